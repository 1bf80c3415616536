"""People of running text: names beside a role, an introduction or what the person does for the business."""
