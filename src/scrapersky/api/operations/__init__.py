"""Routes of workflows, queues, jobs, audit log, health and metrics."""
