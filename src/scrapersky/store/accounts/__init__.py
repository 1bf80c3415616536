"""SQL about tenants, their users, and how users and programs authenticate."""
