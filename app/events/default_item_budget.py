"""How many attempts and how many seconds an item gets by default. It imports nothing: the CLI's help needs it quickly.

The decision that the attempts are used up is in app/loop/attempt_limit.py."""

ATTEMPTS_PER_ITEM = 6
SECONDS_PER_ITEM = 1200.0
