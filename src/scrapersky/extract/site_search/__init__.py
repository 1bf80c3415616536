"""The web site of a business that no provider knows: which domains it may have, and what proves one of them."""
