"""Probes that login shells can read the files they need; without them a login fails or is incomplete."""

from app.targets import file_access
from app.targets.questions.probe_answer import ProbeAnswer, ProbedHost
from app.targets.sshd_login import NO_SHELL

_NEEDED = (
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/ld.so.cache",
    "/etc/login.defs",
    "/etc/profile",
    "/etc/bashrc",
    "/etc/bash.bashrc",
    "/etc/crypto-policies/back-ends/*.config",
)
_PASSED_OVER = ("/etc/profile.d/*.sh",)
"""A shell skips unreadable ones silently; but none may become unreadable."""


def probe_login_shells(host: ProbedHost) -> ProbeAnswer:
    names = [account.name for account in host.people.accounts if account.uid and account.shell not in NO_SHELL]
    if not names:
        return ProbeAnswer(True, "nobody but root has a shell")
    needed, others = (_list_existing_files(host, patterns) for patterns in (_NEEDED, _PASSED_OVER))
    closed = [path for path in needed + others if _is_unreadable(host, path, names)]
    weak = tuple(f"{path} closed to those who log in" for path in closed)
    if missed := [path for path in needed if path in closed]:
        return ProbeAnswer(False, f"not everybody with a shell may read {', '.join(missed)}", weak=weak)
    return ProbeAnswer(True, f"everybody with a shell may read the {len(needed)} files that a login needs", weak=weak)


def _list_existing_files(host: ProbedHost, patterns: tuple[str, ...]) -> list[str]:
    found = (path for pattern in patterns for path in host.files.glob(pattern))
    return sorted(path for path in found if host.files.state(path) is not None)


def _is_unreadable(host: ProbedHost, path: str, names: list[str]) -> bool:
    return any(file_access.explain_read_refusal(host.files, host.people, name, path) for name in names)
