"""Files of leads: csv, tsv, json, jsonl, xlsx and parquet, and the cells of their rows."""
