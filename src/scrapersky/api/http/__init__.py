"""What every request passes: limits, authentication, rate limits, problems, headers."""
