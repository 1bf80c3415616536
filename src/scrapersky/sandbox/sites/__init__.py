"""The web sites of the invented businesses."""
