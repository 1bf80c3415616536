"""What every layer uses: settings, database, errors, clock, secrets."""
