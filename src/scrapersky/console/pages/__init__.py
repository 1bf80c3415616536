"""One module per screen: ask the API's functions, then draw."""
