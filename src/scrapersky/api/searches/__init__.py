"""Routes of searches, campaigns, their schedules, runs and areas."""
