"""Generated configurations of sshd, put before our reading and before sshd itself."""

import grp
import os
import pwd
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import Reload
from app.syntax import sshd
from app.syntax.host_files_protocol import Files
from app.syntax.sshd_effective_settings import DEBIAN_12, compute_sshd_settings
from app.syntax.sshd_match import ConnectionSpec
from app.targets import policy
from app.targets.effects.daemon_base import UNSET
from app.targets.effects.sshd import Sshd, parse_sshd_output
from app.targets.effects.strictness_comparison import Strength
from app.targets.overlay import Overlay
from app.targets.planned_file_states import compute_changed_file_states
from tests.differential.harness import Trial, tally
from tests.differential.sshd_edits import ACCOUNTS, ETC, Linkless, edit, unwalled
from tests.differential.sshd_files import connection, written
from tests.hostfiles import DictFiles
from tests.targets.test_policy import as_action
from tests.thorough import examples

SSHD = "/usr/sbin/sshd"
RELEASE = {"/etc/os-release": "ID=debian\n"}
OF_SSHD = ("by_effect", "below", "match", "open_blocks")
HOSTILE = Path(__file__).parents[1] / "targets/hostile"
OF_A_GROUP = "strict for a group"
"""sshd asks this machine who is in a group, and cannot be told without a wall."""
LEFT_OUT = {
    "listenaddress": "sshd resolves names and adds every port; we keep what is written",
    "ipqos": "nobody is weaker for it, and its names have several spellings",
    "hostkey": "the trial serves with a key of its own",
    "debianbanner": "sshd -T does not say it",
}


MAKING = Lock()


@cache
def families() -> list[dict[str, Any]]:
    return [tomllib.loads((HOSTILE / f"sshd_{name}.toml").read_text()) for name in OF_SSHD]


def host_key() -> str:
    with MAKING:
        return made_key()


@cache
def made_key() -> str:
    at = Path(tempfile.mkdtemp(prefix="temper-differential-")) / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(at)], check=True)
    return str(at)


def wall() -> list[str]:
    """sshd wants /run/sshd to be there, which only root may make: where it is not, it gets one of its own."""
    return (
        [] if Path("/run/sshd").is_dir() else ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run", "--dir", "/run/sshd"]
    )


def command(main: Path, who: ConnectionSpec) -> list[str]:
    spec = f"user={who.user},host={who.host},addr={who.address},laddr={who.localaddress},lport={who.localport}"
    return [*wall(), SSHD, "-T", "-f", str(main), "-h", host_key(), "-C", spec]


def said(texts: dict[str, str], main: str, who: ConnectionSpec) -> dict[str, str] | None:
    for path, text in texts.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    done = subprocess.run(command(Path(main), who), capture_output=True, text=True, check=False, cwd="/", timeout=30)
    return parse_sshd_output(done.stdout) if done.returncode == 0 else None


def groups_of(user: str) -> frozenset[str]:
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        return frozenset()
    return frozenset(grp.getgrgid(gid).gr_name for gid in os.getgrouplist(user, entry.pw_gid))


def reading(random: Random) -> list[str] | None:
    with tempfile.TemporaryDirectory(prefix="temper-differential-") as folder:
        texts = written(random, folder)
        main = f"{folder}/sshd_config"
        who = connection(random, groups_of)
        theirs = said(texts, main, who)
        config = sshd.read_sshd_config(DictFiles(texts), main)
        ours = compute_sshd_settings(config, DEBIAN_12, who)
    if theirs is None:
        return None
    keys = sorted((ours.keys() | theirs.keys()) - LEFT_OUT.keys())
    wrong = [
        f"{key}: {ours.get(key)!r} is read, {theirs.get(key)!r} is said"
        for key in keys
        if ours.get(key) != theirs.get(key)
    ]
    if config.problems:
        wrong.append(f"sshd takes it, and we find {config.problems[0].text}")
    return [f"{one} ({who}) in {texts}" for one in wrong]


def edits(random: Random) -> list[str] | None:
    """What the policy accepts is never weaker by sshd's own words. None where it does not accept."""
    texts = written(random, ETC)
    files, action = Linkless(texts | ACCOUNTS | RELEASE), edit(random, texts)
    if policy.list_action_refusals([action], frozenset({action.path}), files):
        return None
    try:
        after = Overlay(files, compute_changed_file_states([action], files))
    except ActionFailed:
        return None
    daemon = Sshd(files, after)
    was, now = _asked(daemon, files), _asked(daemon, after)
    if was is None or now is None:
        return None
    return [
        f"{key} was {was.get(key, UNSET)!r} and is {now.get(key, UNSET)!r} after {action} on {texts}"
        for key in sorted(was.keys() | now.keys())
        if daemon.compare_values(key, was.get(key, UNSET), now.get(key, UNSET))
        not in (Strength.STRONGER, Strength.EQUAL)
    ]


def _asked(daemon: Sshd, files: Files) -> Mapping[str, str] | None:
    with tempfile.TemporaryDirectory(prefix="temper-differential-") as folder:
        return daemon.ask_settings(files, unwalled(Path(folder), wall(), host_key()))


def attack(random: Random) -> list[str] | None:
    """An attack of the corpus is one by sshd's own words: of what it would say, something is weaker."""
    family = random.choice(families())
    case = random.choice(family["refused"])
    if case["host"] == OF_A_GROUP:
        return None
    files, action = Linkless(family["hosts"][case["host"]] | ACCOUNTS | RELEASE), as_action(case["action"])
    assert not isinstance(action, Reload)
    after = Overlay(files, compute_changed_file_states([action], files))
    daemon = Sshd(files, after)
    was, now = _asked(daemon, files), _asked(daemon, after)
    if was is None or now is None:
        return [f"sshd does not take the files of {case}"]
    weaker = [key for key in was if daemon.compare_values(key, was[key], now.get(key, UNSET)) is Strength.WEAKER]
    return [] if weaker else [f"nothing is weaker after {case}"]


TRIALS: dict[str, Trial] = {
    "what we read is what sshd says": reading,
    "what is accepted is not weaker": edits,
    "what the corpus calls an attack is one": attack,
}
COUNTS = dict(zip(TRIALS, (examples(100), examples(70), examples(25)), strict=True))
MOST_REFUSED = dict(zip(TRIALS, (0.3, 0.9, 0.5), strict=True))
"""Or the trials would show nothing."""


@pytest.mark.parametrize("name", TRIALS)
def test_sshd_has_the_last_word(name: str) -> None:
    found = tally(TRIALS[name], COUNTS[name])
    assert found.differences == ()
    assert found.refused < found.ran * MOST_REFUSED[name]
