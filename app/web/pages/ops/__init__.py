"""The operator's console and its webhooks."""
