"""Email addresses of a page: finding, deobfuscation, classification and deliverability."""
