"""The console: the web pages in which people work, drawn from the functions of the API."""
