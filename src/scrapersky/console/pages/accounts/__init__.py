"""Login, the own account, and the people and keys of the tenant."""
