"""Check a line-up, a log or a running server for known deployment problems."""
