"""SQL for operators: queues, runs, dead letters, paused workflows, and repeated requests."""
