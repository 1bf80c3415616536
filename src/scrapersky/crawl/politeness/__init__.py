"""robots.txt, limits per host, and visits that respect both."""
