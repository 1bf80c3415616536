"""Where places come from: one adapter each, one Place value out."""
