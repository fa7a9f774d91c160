"""Default limits of an item. It imports nothing, as the CLI's help needs them quickly."""

ATTEMPTS = 6
ITEM_SECONDS = 1200.0
