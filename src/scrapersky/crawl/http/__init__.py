"""The guarded HTTP client: connections, limits, decompression, character sets and error mapping."""
