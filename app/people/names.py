"""Valid names of people. They appear in URLs, logs and cookie labels."""

import re

NAME = r"[A-Za-z0-9][A-Za-z0-9._@-]*"
LONGEST = 64
_NAME = re.compile(NAME)


def is_person_name(text: str) -> bool:
    return len(text) <= LONGEST and bool(_NAME.fullmatch(text))
