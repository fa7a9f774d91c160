"""What a question of health is asked about, and what an answer to it has."""

from dataclasses import dataclass
from typing import NamedTuple

from app.syntax.files import Files
from app.syntax.setting import BadSetting
from app.syntax.sudoers import Sudoers
from app.targets.accounts import People
from app.targets.login import SshdLogin


@dataclass(frozen=True)
class Fill:
    """Of the file system that holds the audit log, in bytes."""

    size: int
    free: int


@dataclass(frozen=True)
class Host:
    """What the probes ask about, read once."""

    files: Files
    people: People
    sshd: SshdLogin
    sudoers: Sudoers
    today: int
    fill: Fill | None = None
    """None where it cannot be known."""


class Heard(NamedTuple):
    ok: bool
    detail: str
    holds: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


def parsed(problems: tuple[BadSetting, ...], fine: str) -> Heard:
    if not problems:
        return Heard(True, fine)
    return Heard(False, f"{problems[0].text} ({problems[0].path} line {problems[0].line})")
