"""Random answers of a model: what the policy accepts leaves nothing weaker, in the words of the programs themselves."""

from collections.abc import Callable, Mapping
from random import Random

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import AnyAction, AppendLine, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.targets import policy
from app.targets.effects.daemon_base import UNSET
from app.targets.effects.modprobe_settings import Modprobe
from app.targets.effects.pwquality import FOLDER, MAIN, Pwquality
from app.targets.effects.shell_profile import FAILING, ShellProfile
from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.sysctl import KNOWN, SystemdSysctl
from app.targets.planned_file_states import compute_changed_file_states
from tests.differential import test_modprobe, test_profile, test_pwquality, test_sysctl
from tests.differential.harness import tally
from tests.differential.wall import laid_out, said
from tests.hostfiles import DictFiles
from tests.thorough import examples

Texts = dict[str, str]
Words = Callable[[Texts], Mapping[str, str]]


class Host(DictFiles):
    def find_first_link(self, _path: str) -> None:
        """There is none."""


def changed(random: Random, texts: Texts, lines: tuple[str, ...], new: tuple[str, ...]) -> Texts | None:
    """The host behind a random answer; None where the policy refuses it."""
    actions = [action(random, texts, lines, new) for _ in range(random.randrange(1, 3))]
    paths = frozenset(one.path for one in actions)
    host = Host(texts)
    if policy.list_action_refusals(actions, paths, host):
        return None
    try:
        planned = compute_changed_file_states(actions, host)
    except ActionFailed:
        return None
    return {**texts, **{path: state.content.decode() for path, state in planned.items()}}


def action(random: Random, texts: Texts, lines: tuple[str, ...], new: tuple[str, ...]) -> AnyAction:
    path, line = random.choice((*texts, *new)), random.choice(lines)
    standing = [one for one in texts.get(path, "").split("\n") if one]
    kind = random.randrange(5)
    if kind == 0 and standing:
        return ReplaceLine(path=path, old=random.choice(standing), new=line)
    if kind == 1 and standing:
        return RemoveLine(path=path, line=random.choice(standing))
    if kind == 2 and "=" in line and "modprobe" not in path:
        key, _, value = line.partition("=")
        return SetOption(path=path, key=key.strip().rpartition(" ")[2], value=value.strip())
    if kind == 3:
        return WriteFile(path=path, content="".join(f"{random.choice(lines)}\n" for _ in range(random.randrange(1, 4))))
    return AppendLine(path=path, line=line)


def host_of(random: Random, paths: tuple[str, ...], lines: tuple[str, ...]) -> Texts:
    return {
        path: "".join(f"{random.choice(lines)}\n" for _ in range(random.randrange(1, 5)))
        for path in paths
        if random.random() < 0.8
    }


SYSCTL = (
    *(f"net.ipv4.conf.all.accept_redirects = {n}" for n in (0, 1)),
    *(f"net.ipv4.conf.{which}.rp_filter = {n}" for which in ("all", "default") for n in (0, 1)),
    "net.ipv4.tcp_syncookies = 1",
    "net.ipv4.conf.*.rp_filter = 1",
    "-net.ipv4.conf.all.rp_filter",
    "# c",
)
PASSWORDS = (
    *(f"minlen = {n}" for n in (8, 12, 15, 20, 128)),
    *(f"difok = {n}" for n in (2, 8, 12, 30)),
    *(f"maxrepeat = {n}" for n in (0, 1, 3)),
    *(f"{which}credit = {n}" for which in "du" for n in (-3, -1, 0)),
    "local_users_only",
    "enforce_for_root",
    "dictcheck = 1",
    "# c",
)
MODULES = (
    *(f"install {module} /bin/{what}" for module in ("sctp", "usb-storage", "cramfs") for what in ("false", "true")),
    *(f"blacklist {module}" for module in ("sctp", "usb-storage", "cramfs")),
    "options sctp a=1",
    "install s* /sbin/modprobe x",
    "# c",
)
SHELLS = (
    *(f"{how}TMOUT={n}" for how in ("", "export ", "readonly ", "declare -xr ") for n in (300, 600, 900)),
    "readonly TMOUT",
    "TMOUT=600; readonly TMOUT; export TMOUT",
    "# c",
)


def said_by_systemd(texts: Texts) -> Mapping[str, str]:
    with laid_out(texts, {"/usr/lib/sysctl.d/50-v.conf": "net.ipv4.conf.all.rp_filter = 1\n"}) as wall:
        words = {"SYSTEMD_LOG_LEVEL": "debug", "SYSTEMD_LOG_TARGET": "console"}
        _code, output = said([*wall, "/lib/systemd/systemd-sysctl"], **words)
    found = {key: known.default for key, known in KNOWN.items()}
    for match in filter(None, map(test_sysctl.WRITTEN.fullmatch, output.split("\n"))):
        found[match[1].translate(str.maketrans("/.", "./"))] = match[2]
    return found


def said_by_bash(texts: Texts) -> Mapping[str, str]:
    return {"TMOUT of a login": test_profile.theirs(texts), FAILING: UNSET}


CASES: Mapping[
    str, tuple[SystemdSysctl | Pwquality | Modprobe | ShellProfile, Words, tuple[str, ...], tuple[str, ...]]
] = {
    "sysctl": (
        SystemdSysctl(),
        said_by_systemd,
        SYSCTL,
        ("/etc/sysctl.d/10-a.conf", "/etc/sysctl.d/60-b.conf", "/etc/sysctl.d/50-v.conf", "/etc/sysctl.conf"),
    ),
    "passwords": (Pwquality(), test_pwquality.theirs, PASSWORDS, (MAIN, *(FOLDER.replace("*", n) for n in "az"))),
    "modules": (
        Modprobe(),
        lambda texts: test_modprobe.theirs(texts, {"/usr/lib/modprobe.d/50-v.conf": "blacklist udf\n"}),
        MODULES,
        tuple(f"/etc/modprobe.d/{name}.conf" for name in ("10-a", "50-v", "sctp")),
    ),
    "shells": (
        ShellProfile(),
        said_by_bash,
        SHELLS,
        tuple(f"/etc/profile.d/{name}.sh" for name in ("a", "site", "zz")),
    ),
}
FIXED: Mapping[str, Texts] = {
    "sysctl": {"/usr/lib/sysctl.d/50-v.conf": "net.ipv4.conf.all.rp_filter = 1\n"},
    "modules": {"/usr/lib/modprobe.d/50-v.conf": "blacklist udf\n"},
    "shells": {"/etc/profile": test_profile.LOOP},
    "passwords": {},
}


def trial(name: str) -> Callable[[Random], list[str] | None]:
    daemon, words, lines, paths = CASES[name]

    def one(random: Random) -> list[str] | None:
        fixed = FIXED[name]
        before = {**host_of(random, paths, lines), **fixed}
        after = changed(random, before, lines, paths)
        if after is None:
            return None
        visible = [{p: t for p, t in texts.items() if not p.startswith("/usr/")} for texts in (before, after)]
        was, now = words(visible[0]), words(visible[1])
        weaker = (Strength.WEAKER, Strength.INCOMPARABLE)
        return [
            f"{key}: {was.get(key, UNSET)!r} to {now.get(key, UNSET)!r} by\n{before}\n{after}"
            for key in sorted(was.keys() | now.keys())
            if was.get(key, UNSET) != now.get(key, UNSET)
            and daemon.compare_values(key, was.get(key, UNSET), now.get(key, UNSET)) in weaker
        ]

    return one


TRIALS = {name: trial(name) for name in CASES}


@pytest.mark.parametrize("name", TRIALS)
def test_what_is_accepted_leaves_nothing_weaker(name):
    found = tally(TRIALS[name], examples(80))
    assert found.differences == ()
    assert found.refused < found.ran
