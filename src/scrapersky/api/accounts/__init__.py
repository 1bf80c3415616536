"""Routes of users, tenants, keys, sessions and quotas."""
