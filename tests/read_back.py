"""Who may do what on a tree of files, by the programs themselves: sshd, sudo and libpam, behind a wall."""

import os
from pathlib import Path

from app.syntax import host_text
from tests.differential import dispatch, test_sudo
from tests.differential.wall import laid_out, said

Tree = dict[str, tuple[bytes, int]]
SERVICES = ("login", "sshd", "sudo", "su")
DECIDES = (
    "permitrootlogin|pubkeyauthentication|passwordauthentication|usepam|allowusers|allowgroups|denyusers|denygroups"
    "|authorizedkeysfile|authenticationmethods|forcecommand|permittty|strictmodes"
)
"""Of `sshd -T`: what decides whether somebody gets in, and to what."""


def read_tree(root: Path) -> Tree:
    """Every file's bytes and mode, by path."""
    files = [Path(folder, name) for folder, _, names in os.walk(root) for name in names]
    return {f"/{at.relative_to(root)}": (at.read_bytes(), at.lstat().st_mode) for at in files if not at.is_symlink()}


def list_changed(before: Tree, after: Tree) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def read_logins(tree: Tree) -> dict[str, str]:
    """What sshd, sudo and PAM say of each account that has a shell."""
    texts = {path: host_text.decode_bytes(content) for path, (content, _) in tree.items() if path.startswith("/etc/")}
    fields = [line.split(":") for line in texts["/etc/passwd"].splitlines()]
    users = [one[0] for one in fields if not one[6].endswith(("nologin", "false"))]
    return {**_ask_sshd(texts, users), **_ask_sudo(texts, users), **_ask_pam(texts)}


def _ask_sshd(texts: dict[str, str], users: list[str]) -> dict[str, str]:
    asked = "".join(
        f"/usr/sbin/sshd -T -h /tmp/key -C user={user},host=h,addr=192.0.2.1 2>&1; echo; " for user in users
    )
    with laid_out(texts) as wall:
        script = f"mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f /tmp/key; {asked}"
        answers = said([*wall, "/bin/sh", "-c", f"{{ {script} }} | grep -E '^(|({DECIDES}) .*)$'"])[1].split("\n\n")
    assert len(answers) == len(users) + 1, answers
    return {f"sshd {user}": answer for user, answer in zip(users, answers, strict=False)}


def _ask_sudo(texts: dict[str, str], users: list[str]) -> dict[str, str]:
    read = ("/etc/sudoers", "/etc/passwd", "/etc/group")
    sudoers = {path: text for path, text in texts.items() if path.startswith(read)}
    asked = "; ".join(f"sudo -l -U {user} 2>/dev/null | sed 's/ on [^ ]*:/:/'; echo ==" for user in users)
    answers = test_sudo.ran(sudoers, asked).output.split("==\n")
    assert len(answers) == len(users) + 1, answers
    return {f"sudo {user}": answer for user, answer in zip(users, answers, strict=False)}


def _ask_pam(texts: dict[str, str]) -> dict[str, str]:
    with laid_out({**texts, "/var/dispatch.py": Path(dispatch.__file__).read_text()}) as wall:
        output = said([*wall, "/usr/bin/python3", "-SE", "/var/dispatch.py", *SERVICES])[1]
    answers = dict(line.split(" ", 1) for line in output.splitlines())
    assert answers.keys() == {*SERVICES}, output
    return {f"pam {service}": codes for service, codes in answers.items()}
