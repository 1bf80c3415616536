"""What every room stands on: settings, database, errors, clock."""
