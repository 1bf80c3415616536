"""The durable job loop: it knows queues, leases and clocks, and no workflow."""
