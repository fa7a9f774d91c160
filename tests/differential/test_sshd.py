"""Generated configurations of sshd, put before our reading and before sshd itself."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest

from app.syntax import sshd
from app.syntax.sshd_effect import DEBIAN_12, settings
from app.syntax.sshd_match import Connection
from app.targets.effects.sshd import printed
from tests.differential.harness import Trial, tally
from tests.differential.sshd_files import connection, written
from tests.hostfiles import DictFiles

SSHD = "/usr/sbin/sshd"
LEFT_OUT = {
    "listenaddress": "sshd resolves names and adds every port; we keep what is written",
    "ipqos": "nobody is weaker for it, and its names have several spellings",
    "hostkey": "the trial serves with a key of its own",
    "debianbanner": "sshd -T does not say it",
}


@cache
def host_key() -> str:
    at = Path(tempfile.mkdtemp(prefix="temper-differential-")) / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(at)], check=True)
    return str(at)


def command(main: Path, who: Connection) -> list[str]:
    """sshd wants /run/sshd to be there, which only root may make: where it is not, it gets one of its own."""
    wall = [] if Path("/run/sshd").is_dir() else ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run", "--dir", "/run/sshd"]
    spec = f"user={who.user},host={who.host},addr={who.address},laddr={who.localaddress},lport={who.localport}"
    return [*wall, SSHD, "-T", "-f", str(main), "-h", host_key(), "-C", spec]


def said(texts: dict[str, str], main: str, who: Connection) -> dict[str, str] | None:
    for path, text in texts.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    done = subprocess.run(command(Path(main), who), capture_output=True, text=True, check=False, cwd="/", timeout=30)
    return printed(done.stdout) if done.returncode == 0 else None


def groups_of(user: str) -> frozenset[str]:
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        return frozenset()
    import grp

    return frozenset(grp.getgrgid(gid).gr_name for gid in os.getgrouplist(user, entry.pw_gid))


def reading(random: Random) -> list[str] | None:
    with tempfile.TemporaryDirectory(prefix="temper-differential-") as folder:
        texts = written(random, folder)
        main = f"{folder}/sshd_config"
        who = connection(random, groups_of)
        theirs = said(texts, main, who)
        config = sshd.effective(DictFiles(texts), main)
        ours = settings(config, DEBIAN_12, who)
    if theirs is None:
        return None
    keys = sorted((ours.keys() | theirs.keys()) - LEFT_OUT.keys())
    wrong = [f"{key}: {ours.get(key)!r} is read, {theirs.get(key)!r} is said" for key in keys if ours.get(key) != theirs.get(key)]
    if config.problems:
        wrong.append(f"sshd takes it, and we find {config.problems[0].text}")
    return [f"{one} ({who}) in {texts}" for one in wrong]


TRIALS: dict[str, Trial] = {"what we read is what sshd says": reading}


@pytest.mark.parametrize("name", TRIALS)
def test_generated_files_come_to_what_sshd_says(name: str) -> None:
    found = tally(TRIALS[name], 300)
    assert found.differences == ()
    assert found.refused < found.ran / 2
