"""Reads pages in a headless Chromium that has no network of its own: the guarded client answers its requests."""
