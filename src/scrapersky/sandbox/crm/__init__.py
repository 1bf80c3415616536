"""Fakes of CRMs and of receivers of web hooks."""
