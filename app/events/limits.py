"""How far an item goes unless somebody says otherwise. The help of a command names it, too, so nothing is read in here."""

ATTEMPTS = 6
ITEM_SECONDS = 1200.0
