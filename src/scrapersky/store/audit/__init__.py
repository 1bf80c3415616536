"""SQL about the audit: who changed what."""
