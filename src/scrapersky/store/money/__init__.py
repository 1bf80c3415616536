"""SQL about quotas, budgets and what was spent."""
