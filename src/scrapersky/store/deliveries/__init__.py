"""SQL about destinations and the deliveries of contacts to them."""
