"""Parses the output of `sudo -ll -U NAME`."""

from collections.abc import Iterable

_NONE = ("is not allowed to run sudo", "may not run sudo")
_DEFAULTS, _MAY = "Matching Defaults entries", "may run the following commands"
_BOUND_DEFAULTS = "Runas and Command-specific defaults"
"""Heading of the defaults that hold for some commands or target users alone; they say nothing of the other rights."""
_ENTRY = ("Sudoers entry", "LDAP Role", "Role:")


def parse_password_needed_by_sudo_right(lines: Iterable[str]) -> dict[str, bool] | None:
    """Return each right and whether it needs a password, in order; None if sudo gave no answer."""
    reader = _ListingParser()
    for line in lines:
        reader.read_line(line)
    return reader.rights if reader.spoken else None


class _ListingParser:
    def __init__(self) -> None:
        self.rights: dict[str, bool] = {}
        self.spoken = False
        self._listed = False
        self._asked_by_default = True
        self._holds_for_all = True
        self._begin_entry()

    def _begin_entry(self) -> None:
        self._users, self._groups, self._asked = "root", "", self._asked_by_default

    def read_line(self, line: str) -> None:
        text = line.strip()
        if any(words in line for words in _NONE):
            self.spoken = True
        elif _MAY in line:
            self.spoken = self._listed = True
            self._begin_entry()
        elif not self._listed:
            self._note_whether_defaults_ask_password(text)
        elif text.startswith(_ENTRY):
            self._begin_entry()
        elif line.startswith("\t"):
            self._read_command(text)
        else:
            self._read_field(*text.partition(": ")[::2])

    def _note_whether_defaults_ask_password(self, text: str) -> None:
        self._holds_for_all = self._holds_for_all and not text.startswith(_BOUND_DEFAULTS)
        if text.startswith(_DEFAULTS) or not self._holds_for_all:
            return
        for word in (one.strip() for one in text.split(",")):
            if word in ("authenticate", "!authenticate"):  # the last one holds
                self._asked_by_default = word == "authenticate"

    def _read_field(self, name: str, value: str) -> None:
        if name == "RunAsUsers":
            self._users = value
        elif name == "RunAsGroups":
            self._groups = value
        elif name == "Options":
            options = [one.strip() for one in value.split(",")]
            self._asked = "authenticate" in options or (self._asked and "!authenticate" not in options)

    def _read_command(self, text: str) -> None:
        runas = f"{self._users}:{self._groups}" if self._groups else self._users
        right = f"({runas}) {text}"
        self.rights.pop(right, None)  # the last match decides, so it moves to the end
        self.rights[right] = self._asked
