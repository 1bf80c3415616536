"""What people decide about businesses: which records are one, and which web site is theirs."""
