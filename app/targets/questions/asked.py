"""Input and answer of a file-based health probe."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from app.syntax import sshd, sudoers
from app.syntax.files import Files
from app.syntax.setting import BadSetting
from app.syntax.sudoers import Sudoers
from app.targets.accounts import People, people
from app.targets.login import SshdLogin
from app.targets.recall import Recall


@dataclass(frozen=True)
class Fill:
    """Size and free space of the audit log's file system, in bytes."""

    size: int
    free: int


@dataclass(frozen=True)
class Host:
    """The host that probes read; data that several probes need is parsed once."""

    files: Files
    recall: Recall
    today: int
    fill: Fill | None = None
    """None if unknown."""

    @cached_property
    def people(self) -> People:
        return self.recall.ask(people, self.files, people)

    @cached_property
    def sshd(self) -> SshdLogin:
        return SshdLogin(self.files, self.people, self.recall.ask(sshd.effective, self.files, sshd.effective))

    @cached_property
    def sudoers(self) -> Sudoers:
        return self.recall.ask(sudoers.effective, self.files, sudoers.effective)


class Heard(NamedTuple):
    ok: bool
    detail: str
    holds: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


def parsed(problems: tuple[BadSetting, ...], fine: str) -> Heard:
    if not problems:
        return Heard(True, fine)
    return Heard(False, f"{problems[0].text} ({problems[0].path} line {problems[0].line})")
