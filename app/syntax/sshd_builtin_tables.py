"""What sshd knows, from sshd_builtin_tables.toml: its keywords, their values and defaults, and its algorithms."""

import tomllib
from pathlib import Path

_TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


def get_table(name: str) -> dict[str, str]:
    return _TABLES[name]


def get_names_listed_in_entry(table: str, entry: str) -> tuple[str, ...]:
    return tuple(_TABLES[table][entry].split())


DEFAULTS = {
    **{name: word for word in get_table("default_words") for name in get_names_listed_in_entry("default_words", word)},
    **get_table("defaults"),
}
DEFAULTS_OF_DEBIAN_12, DEFAULTS_OF_RHEL_9 = get_table("defaults_debian_12"), get_table("defaults_rhel_9")
