"""The embedded PostgreSQL: started when DATABASE_URL is not set, shared by all processes of a data directory."""
