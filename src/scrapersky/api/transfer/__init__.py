"""Routes of imports, submissions and exports."""
