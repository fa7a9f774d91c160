"""Rights, passwords and tokens, independent of requests and the database."""
