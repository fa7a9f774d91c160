"""A number with its noun: "1 rule", "2 rules"."""


def count_things(count: int, noun: str, plural: str = "") -> str:
    """Return the number and the noun, in the plural unless the number is one."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
