"""The schema of the database: its migrations, its catalog and the role that uses it."""
