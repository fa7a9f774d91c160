"""Who may do what: rights, passwords and tokens, without a request or a database in sight."""
