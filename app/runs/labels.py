"""Names and tags of runs. They are not events, because a run can be renamed after its log has ended."""

import re
from collections.abc import Sequence

from app.errors import NotTaken
from app.store.models import RunRow
from app.text.clean import clean

LONGEST_NAME, LONGEST_TAG, MOST_TAGS = 80, 40, 12
_TAG = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/@-]{{0,{LONGEST_TAG - 1}}}")


def label(row: RunRow, name: str | None, tags: Sequence[str] | None) -> None:
    """Set a run's name and tags; None leaves a value unchanged. Raise Rejected if invalid."""
    if name is not None:
        row.name = _name(name)
    if tags is not None:
        row.tags = " ".join(_tags(tags))


def checked(name: str, tags: Sequence[str]) -> None:
    """Validate a name and tags before the run exists."""
    _name(name), _tags(tags)


def split(words: str) -> list[str]:
    """Split tags at spaces and commas."""
    return [word for word in re.split(r"[\s,]+", words) if word]


def _name(name: str) -> str:
    said = " ".join(clean(name, LONGEST_NAME + 1).split())
    if len(said) > LONGEST_NAME:
        raise NotTaken("name", f"the name has more than {LONGEST_NAME} characters.")
    return said


def _tags(tags: Sequence[str]) -> list[str]:
    for place, tag in enumerate(tags):
        if not _TAG.fullmatch(tag):
            said = f"{tag[:LONGEST_TAG]!a} is no tag: letters, digits and . _ : / @ -, at most {LONGEST_TAG} of them."
            raise NotTaken(f"tags[{place}]", said)
    once = list(dict.fromkeys(tags))
    if len(once) > MOST_TAGS:
        raise NotTaken("tags", f"{len(once)} tags are given: {MOST_TAGS} are the most.")
    return once
