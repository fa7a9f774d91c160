"""Input and answer of a file-based health probe."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from app.syntax import sshd, sudoers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting
from app.syntax.sudoers import Sudoers
from app.targets.host_accounts import HostAccounts, read_host_accounts
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.sshd_login_prediction import SshdLogin


@dataclass(frozen=True)
class DiskUsage:
    """Size and free space of the audit log's file system, in bytes."""

    size: int
    free: int


@dataclass(frozen=True)
class ProbedHost:
    """The host that probes read; data that several probes need is parsed once."""

    files: Files
    recall: ReadTrackingCache
    today: int
    fill: DiskUsage | None = None
    """None if unknown."""

    @cached_property
    def accounts_and_groups(self) -> HostAccounts:
        return self.recall.get_or_compute(read_host_accounts, self.files, read_host_accounts)

    @cached_property
    def ssh_login_predictor(self) -> SshdLogin:
        return SshdLogin(
            self.files,
            self.accounts_and_groups,
            self.recall.get_or_compute(sshd.read_sshd_config, self.files, sshd.read_sshd_config),
        )

    @cached_property
    def sudoers(self) -> Sudoers:
        return self.recall.get_or_compute(sudoers.read_sudoers, self.files, sudoers.read_sudoers)


class ProbeAnswer(NamedTuple):
    ok: bool
    detail: str
    holds: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    asked: bool = True
    """False if the host could not be asked."""


def answer_from_first_problem_or_success(problems: tuple[BadSetting, ...], success_text: str) -> ProbeAnswer:
    return ProbeAnswer(False, str(problems[0])) if problems else ProbeAnswer(True, success_text)
