"""Routes of destinations and deliveries."""
