"""Searches, schedules, contacts and files of leads."""
