"""Tests of the actions that API and commands share."""
