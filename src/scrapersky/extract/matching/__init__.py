"""Whether two records of places, mostly of different providers, are one business."""
