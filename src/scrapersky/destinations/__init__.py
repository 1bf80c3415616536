"""Where contacts go: files now, webhooks and CRMs later."""
