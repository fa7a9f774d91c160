"""What sudo itself says of generated sudoers, against what we say: the text, each account's commands, its Defaults."""

import re
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import AnyAction, AppendLine, RemoveLine, ReplaceLine, WriteFile
from app.syntax import sudoers
from app.targets import policy
from app.targets.account_sudo_rights import (
    Principal,
    SudoRight,
    list_rights_and_denials_in_file_order,
    resolve_defaults,
)
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.sudo_rights_and_defaults import Sudo
from app.targets.host_accounts import read_host_accounts
from app.targets.planned_file_states import compute_changed_file_states
from app.targets.program_sandbox import ProgramOutcome, detect_confinement
from tests.differential.harness import tally
from tests.differential.linkless import Linkless
from tests.differential.sudoers import COMMANDS, FOLDER, GROUP, GROUPS, MAIN, PASSWD, USERS, Maker
from tests.hostfiles import DictFiles
from tests.thorough import examples

WALL = detect_confinement()
ASK = create_local_asker(WALL)
ONE = Sudo()
TOLD = {
    "requiretty": "Only allow the user to run sudo if they have a tty",
    "visiblepw": "Allow sudo to prompt for a password even if it would be visible",
    "use_pty": "Always run commands in a pseudo-tty",
    "env_reset": "Reset the environment to a default set of variables",
    "noexec": "Preload the sudo_noexec library which replaces the exec functions",
    "rootpw": "Prompt for root's password, not the users's",
    "targetpw": "Prompt for the target user's password, not the users's",
    "setenv": "Allow users to set arbitrary environment variables",
    "authenticate": "Require users to authenticate by default",
}
"""How sudo -V puts the flags of the trials."""
BUILT_IN = {"authenticate": "on", "env_reset": "on"}


def files_of(texts: dict[str, str]) -> DictFiles:
    return DictFiles({**texts, "/etc/passwd": PASSWD, "/etc/group": GROUP})


def ran(texts: dict[str, str], script: str) -> ProgramOutcome:
    """sudo at work on such a tree, as the one account that there is behind the wall. It wants its own file closed."""
    ours = {
        "/etc/passwd": PASSWD,
        "/etc/group": GROUP,
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nsudoers: files\n",
        "/etc/pam.d/other": "".join(f"{kind} required pam_permit.so\n" for kind in ("auth", "account", "session")),
        "/etc/sudo.conf": "".join(
            f"Plugin sudoers_{part} sudoers.so sudoers_mode=0400\n" for part in ("policy", "audit")
        ),
        **dict.fromkeys(COMMANDS, "#!/bin/sh\n"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**ours, **texts}.items():
            at = Path(folder, path[1:])
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(text.encode())
            at.chmod(0o755 if path in COMMANDS else 0o400)
        return WALL.run(Path(folder), ["/bin/sh", "-c", script], 20)


def text(random: Random) -> list[str] | None:
    """cvtsudoers reads the same rules, and refuses what we cannot read."""
    texts = Maker(random).tree()
    files = files_of(texts)
    ours, theirs = ONE.read_settings(files), ONE.ask_settings(files, ASK)
    broken = bool(sudoers.read_sudoers(files).problems)
    if theirs is None:
        told = ran(texts, f"cvtsudoers -f json {MAIN} 2>&1")
        # An alias that is not defined is refused by cvtsudoers alone, and so is more than we listen to.
        return (
            None
            if broken or "not defined" in told.output or told.code is None
            else [f"sudo refuses, and we do not: {texts}"]
        )
    if broken:
        return [f"we cannot read {sudoers.read_sudoers(files).problems}: {texts}"]
    return [
        f"{key}: {ours.get(key)} / {theirs.get(key)}: {texts}"
        for key in ours | theirs
        if ours.get(key) != theirs.get(key)
    ]


def fits(right: SudoRight, command: str) -> bool:
    """On the one host that there is, for root, without arguments."""
    if not said(right.hosts, ("ALL",)) or not said(right.runas, ("ALL", "root", "#0")):
        return False
    pattern, _, given = right.command.partition(" ")
    named = pattern == "ALL" or (
        command.rpartition("/")[0] + "/" == pattern if pattern.endswith("/") else fnmatchcase(command, pattern)
    )
    if "*" in pattern and not pattern.endswith("/"):
        named = named and command.count("/") == pattern.count("/")
    return named and given in ("", '""', "*")


def said(listed: str, words: tuple[str, ...]) -> bool:
    users = listed.partition(" : ")[0] if not listed.startswith(": ") else ""
    entries = [entry for entry in users.split(", ") if entry]
    fitting = [entry for entry in entries if entry.removeprefix("!") in words]
    return bool(fitting) and not fitting[-1].startswith("!")


def grants(random: Random) -> list[str] | None:
    """sudo -l -U, command by command, against the last of our rights that fits."""
    # Whoever may run something as himself: asked as root, sudo takes that for root.
    texts = {path: text.replace("()", "(ops)") for path, text in Maker(random).tree().items()}
    files = files_of(texts)
    read, who = sudoers.read_sudoers(files), read_host_accounts(files)
    if read.problems:
        return None
    texts = {**texts, MAIN: f"Defaults preserve_groups, !fqdn\n{texts[MAIN]}Defaults !requiretty\n"}
    asked = [(user, command) for user in USERS for command in COMMANDS]
    answer = ran(texts, "\n".join(f"sudo -l -U {user} -u root {cmd} >/dev/null 2>&1; echo $?" for user, cmd in asked))
    codes = answer.output.split()
    if len(codes) != len(asked):
        return [f"sudo answers {answer.output[:300]!r}: {texts}"]
    wrong = []
    for (user, command), code in zip(asked, codes, strict=True):
        mine = list_rights_and_denials_in_file_order(
            read, Principal(user, USERS[user], who.list_group_names_and_gids_after_hash(user))
        )
        last = next((right for right in reversed(mine) if fits(right, command)), None)
        if (last is not None and last.allowed) != (code == "0"):
            wrong.append(f"{user} {command}: we say {last}, sudo {code}: {texts}")
    return wrong


def defaults(random: Random) -> list[str] | None:
    """sudo -V of whoever calls it: behind the wall that is uid 0, so each account in turn is given that."""
    texts = Maker(random).tree()
    files = files_of(texts)
    read = sudoers.read_sudoers(files)
    if read.problems:
        return None
    user = random.choice([name for name in USERS if name != "root"])
    passwd = f"{user}:x:0:{USERS[user]}::/:/bin/sh\n{PASSWD}"
    answer = ran({**texts, "/etc/passwd": passwd}, "sudo -V")
    lines = set(answer.output.split("\n"))
    if answer.code or not any("Sudoers path" in line for line in lines):
        return [f"sudo -V says {answer.output[:300]!r}: {texts}"]
    gids = {f"#{gid}" for name, (gid, who) in GROUPS.items() if user in who} | {f"#{USERS[user]}"}
    groups = {name for name, (_gid, who) in GROUPS.items() if user in who} | ({user} & GROUPS.keys())
    ours = resolve_defaults(read, Principal(user, 0, frozenset(gids | groups)), ">root")
    wrong = [
        f"{user} {name}: we say {ours.get(name)}: {texts}"
        for name, told in TOLD.items()
        if (ours.get(name, BUILT_IN.get(name, "off")) == "on") != (told in lines)
    ]
    minutes = float(ours.get("timestamp_timeout", "15").replace("off", "0"))
    tries = ours.get("passwd_tries", "3")
    wanted = (
        f"Authentication timestamp timeout: {minutes:.1f} minutes",
        f"Number of tries to enter a password: {tries}",
    )
    return wrong + [f"{user}: sudo does not say {told!r}: {texts}" for told in wanted if told not in lines]


def edits(random: Random) -> list[str] | None:
    """What the policy lets through gives nobody a command, or a way to one, by sudo's own words."""
    made = Maker(random)
    # Aliases that are missing are fine for sudo and nothing for cvtsudoers.
    texts = {path: re.sub(r".*[A-Z]{4,5}[0-9].*\n", "", text) for path, text in made.tree().items()}
    before = Linkless({**texts, "/etc/passwd": PASSWD, "/etc/group": GROUP})
    path = random.choice([path for path in texts if "." not in path.rpartition("/")[2]])
    action = edit(random, made, path, [line for line in texts[path].split("\n") if line] or ["x"])
    if policy.list_action_refusals([action], frozenset({action.path}), before):
        return None
    try:
        after = compute_changed_file_states([action], before)
    except ActionFailed:
        return None  # the line is not there
    changed = {**texts, **{at: state.content.decode() for at, state in after.items()}}
    new, old = ONE.ask_settings(files_of(changed), ASK), ONE.ask_settings(files_of(texts), ASK)
    if new is None or old is None:
        return None
    wrong = [
        f"{key}: {old.get(key)} / {new.get(key)}: {action}: {texts}"
        for key in old | new
        if old.get(key) != new.get(key)
        and ONE.compare_values(key, old.get(key, ""), new.get(key, "")) not in (Strength.STRONGER, Strength.EQUAL)
    ]
    allowed = [commands(each) for each in (texts, changed)]
    return wrong + [f"{one} is given: {action}: {texts}" for one in allowed[1] - allowed[0]]


def edit(random: Random, made: Maker, path: str, lines: list[str]) -> AnyAction:
    line = random.choice([one for one in lines if "NOPASSWD" in one or "!authenticate" in one] or lines)
    strict = ("timestamp_timeout=3", "passwd_tries=2", "authenticate", "use_pty", "!targetpw", "!rootpw", "env_reset")
    added = f"Defaults{random.choice(('', ':deploy', ':kiosk'))} {random.choice(strict)}"
    without = line.replace("NOPASSWD:", "").replace("!authenticate", "authenticate")
    return random.choice(
        [
            RemoveLine(path=path, line=line),
            RemoveLine(path=path, line=line),
            ReplaceLine(path=path, old=line, new=without),
            ReplaceLine(path=path, old=line, new=added),
            AppendLine(path=path, line=added),
            WriteFile(path=f"{FOLDER}/zz", content=f"{added}\n", mode="0440"),
            AppendLine(path=path, line=made.line()),
        ]
    )


def commands(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Which account may run which as root, with sudo itself as the judge."""
    first = f"Defaults preserve_groups, !fqdn\n{texts[MAIN]}Defaults !requiretty\n"
    asked = [(user, command) for user in USERS for command in COMMANDS]
    script = "\n".join(f"sudo -l -U {user} -u root {cmd} >/dev/null 2>&1; echo $?" for user, cmd in asked)
    codes = ran({**texts, MAIN: first.replace("()", "(ops)")}, script).output.split()
    return {one for one, code in zip(asked, codes, strict=True) if code == "0"}


TRIALS = {"text": text, "grants": grants, "defaults": defaults, "edits": edits}


@pytest.mark.parametrize("trial", TRIALS)
def test_we_say_what_sudo_says(trial):
    found = tally(TRIALS[trial], examples(50))
    assert found.differences == ()
    # Of edits at random few are let through.
    assert found.refused < (found.ran * 0.9 if trial == "edits" else found.ran // 2)
