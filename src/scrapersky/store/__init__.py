"""SQL as named functions, in folders by subject."""
