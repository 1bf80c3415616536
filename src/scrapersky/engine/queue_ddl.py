"""What engine and database agree on about a queue, which migrations/sql/queues.sql makes."""

PRIORITY_WORTH = 600_000_000  # microseconds of order per class of priority: after ten minutes old comes before urgent
CHANNEL = "scrapersky"  # of NOTIFY
QUEUE_PARTS = ("status", "error", "attempts", "allowance", "due_at", "order")  # the columns of a queue, after its name
