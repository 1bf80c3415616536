"""Tables of foreign origin: the lines of a stream of bytes, and the rows of CSV and JSONL."""
