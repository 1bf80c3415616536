"""Queries about searches: request, progress, results, resume, and the journal of provider pages."""
