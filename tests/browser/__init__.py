"""Tests in a real Chromium. They run where one is found: see chromium.py."""
