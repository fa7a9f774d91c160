"""Which units are masked, as a host is asked it, against systemctl, on generated folders of units."""

from random import Random
from shlex import join, quote

from app.targets.ssh.host_script_output import parse_host_report
from app.targets.ssh.shell_script import read_script_part
from tests.differential.harness import tally
from tests.differential.wall import laid_out, said
from tests.differential.wall import told as shown
from tests.thorough import examples

ETC, CONTROL = "/etc/systemd/system", "/etc/systemd/system.control"
FOLDERS = (
    ETC,
    ETC,
    ETC,
    CONTROL,
    "/run/systemd/system",
    "/run/systemd/generator.late",
    "/usr/local/lib/systemd/system",
)
NAMES = (
    "a.service",
    "b.service",
    "c.socket",
    "d@.service",
    "d@1.service",
    "e.target",
    "apt-daily.timer",
    "getty@.service",
)
"""The last two are a vendor's own."""
VENDOR = "/usr/lib/systemd/system"
NO_NAMES = ("x.conf", "white space.service", ".service", "plain", "a.service.bak")
UNIT = "[Unit]\nDescription=A unit\n[Service]\nExecStart=/bin/true\n"
THEIRS = ("systemctl", "--root=/", "list-unit-files", "--no-legend", "--no-pager", "--plain", "--state=masked")
AWK = "mkdir -p /etc/alternatives\nln -s /usr/bin/mawk /etc/alternatives/awk\n"
"""It stands in /etc, which behind the wall is the trial's."""
OURS = 'row() { printf \'%s\\t%s\\t%s\\n\' "$1" "$2" "$3"; }\n' + read_script_part("masks") + "masks\n"


def trial(random: Random) -> list[str]:
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for folder in dict.fromkeys(FOLDERS):
        files[f"{folder}/.keep"] = ""
    for _ in range(random.randrange(1, 14)):
        at = f"{random.choice(FOLDERS)}/{random.choice(NAMES * 4 + NO_NAMES)}"
        if at in files or at in links:
            continue
        plain = "@" not in at
        what = random.choice(("mask", "mask", "mask", "unit", "empty", *(["alias", "alias", "lost"] * plain)))
        if what in ("unit", "empty"):
            files[at] = UNIT if what == "unit" else ""
        else:
            links[at] = {"mask": "/dev/null", "lost": "/nowhere/z.service"}.get(what) or alias(random, at)
    vendor = {f"{VENDOR}/{name}": random.choice((UNIT, UNIT, "")) for name in NAMES[-2:]}
    with laid_out(files, vendor) as wall:
        lay = "".join(f"ln -s {quote(to)} {quote(at)}\n" for at, to in links.items())
        _code, text = said([*wall, "/bin/sh", "-c", f"{AWK}{lay}{OURS}echo =\n{join(THEIRS)}"])
    ours, theirs = text.split("=\n", 1)
    rows = parse_host_report(ours.splitlines())
    assert rows.find_exit_code("masked", "all") == 0, text
    units = sorted(line.split()[0] for line in theirs.splitlines())
    mine = rows.get_lines("masked", "all")
    return [] if mine == units else [shown(files | vendor | links, "masked", mine, units)]


def alias(random: Random, at: str) -> str:
    kind = at.rpartition(".")[2]
    of_a_kind = [name for name in NAMES if name.endswith(f".{kind}") and "@" not in name] or ["a.service"]
    return random.choice((f"{ETC}/", "/usr/local/lib/systemd/system/", "")) + random.choice(of_a_kind)


TRIALS = {"reading": trial}


def test_ours_are_systemctls():
    assert tally(trial, examples(60)).differences == ()
