"""A parsed page: the parser, its document model, and the context of a piece of text."""
