"""Names and tags of runs. They are not events, because a run can be renamed after its log has ended."""

import re
from collections.abc import Sequence

from app.errors import Rejected
from app.store.models import RunRow
from app.store.run_list_filters_and_columns import LONGEST_TAG
from app.text.clean import clean_text

LONGEST_NAME, MOST_TAGS = 80, 12
_TAG = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/@-]{{0,{LONGEST_TAG - 1}}}")


def set_run_labels(row: RunRow, name: str | None, tags: Sequence[str] | None) -> None:
    """Set a run's name and tags; None leaves a value unchanged. Raise Rejected if invalid."""
    if name is not None:
        row.name = _clean_name(name)
    if tags is not None:
        row.tags = " ".join(_validate_and_dedupe_tags(tags))


def require_valid_name_and_tags(name: str, tags: Sequence[str]) -> None:
    """Validate a name and tags before the run exists."""
    _clean_name(name), _validate_and_dedupe_tags(tags)


def split_at_commas_and_blanks(tags_text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", tags_text) if word]


def _clean_name(name: str) -> str:
    cleaned = " ".join(clean_text(name, LONGEST_NAME + 1).split())
    if len(cleaned) > LONGEST_NAME:
        raise Rejected("name", f"the name has more than {LONGEST_NAME} characters.")
    return cleaned


def _validate_and_dedupe_tags(tags: Sequence[str]) -> list[str]:
    for place, tag in enumerate(tags):
        if not _TAG.fullmatch(tag):
            allowed = f"letters, digits and . _ : / @ -, at most {LONGEST_TAG} characters"
            raise Rejected(f"tags[{place}]", f"{tag[:LONGEST_TAG]!a} is not a valid tag: use {allowed}.")
    once = list(dict.fromkeys(tags))
    if len(once) > MOST_TAGS:
        raise Rejected("tags", f"there are {len(once)} tags; the limit is {MOST_TAGS}.")
    return once
