"""The line, queues, dead letters, runs, jobs, the audit and the system."""
