"""Texts and drawings of values: times, numbers, bars."""
