"""What a person asks for, in the API, the console or a command: one module for each action."""
