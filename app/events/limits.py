"""How far an item goes unless somebody says otherwise. A command's help names it, too, so nothing is imported here."""

ATTEMPTS = 6
ITEM_SECONDS = 1200.0
