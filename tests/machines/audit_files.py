"""Files of audit rules by chance, and what a machine's kernel made of each."""

import io
import re
import tarfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from app.syntax.audit_rule_files import split_line_at_auditctl_buffer_size

PIECES = tomllib.loads((Path(__file__).parents[1] / "data/audit_lines.toml").read_text())
FIRST = "-D\n-w /etc/hostname -p wa -k first\n"
"""In front of each file: until it has sent a rule, auditctl tells its errors to the system's log alone."""
LONG = (
    *(f"-w /etc/{'a' * length} -p wa" for length in (255, 256)),
    f"-w /{'etc/../' * 700}etc/x -p wa",
    *(f"-w /etc/x -p wa -k {'k' * length}" for length in (31, 32, 255, 256, 257)),
    *(f"-a always,exit -S mount{' -F uid=0' * count}" for count in (62, 63, 64, 65)),
    *(f"-a always,exit -S mount{''.join(f' -k {n}{chr(107) * 60}' for n in range(count))}" for count in (4, 5)),
    f"# {'c' * 7000}",
    f"-w /etc/x -p wa -k x{' ' * 7000}",
    f"{' ' * 7000}-w /etc/y -p wa -k x",
)


def make_file(random: Random) -> str:
    """A few usual rules; most files have one odd line among them, as a host has after one bad change."""
    lines = [_make_line(random) for _ in range(random.randrange(1, 9))]
    if random.random() < 0.15:
        lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        lines.insert(random.randrange(len(lines) + 1), _make_odd_line(random))
    return FIRST + "\n".join(lines) + LAST


def _make_line(random: Random) -> str:
    kind = random.random()
    if kind < 0.15:
        return random.choice(PIECES["controls"])
    key = f" {random.choice(('-k ', '-k ', '-F key='))}{random.choice('abc')}"
    if kind < 0.45:
        return f"-w {_pick_path(random)} -p {random.choice(('wa', 'a', 'x', 'rwxa'))}{random.choice((key, ''))}"
    where = random.choice(PIECES["lists"])
    if kind < 0.6:
        fields = "".join(f" -F {one}" for one in random.sample(PIECES["fields"][:7], random.randrange(3)))
        return f"-a {where} -F path={_pick_path(random)} -F perm={random.choice(('wa', 'x'))}{fields}{key}"
    arch = random.choice((" -F arch=b64", " -F arch=b64", " -F arch=b32", ""))
    calls = random.sample(PIECES["calls"], random.randrange(1, 4))
    named = f" -S {','.join(calls)}" if random.random() < 0.5 else "".join(f" -S {one}" for one in calls)
    compared = f" -C {random.choice(PIECES['compared'])}" if random.random() < 0.2 else ""
    fields = "".join(f" -F {one}" for one in random.sample(PIECES["fields"], random.randrange(4)))
    return f"-a {where}{arch}{named}{compared}{fields}{random.choice((key, key, ''))}"


def _pick_path(random: Random) -> str:
    return f"{random.choice(PIECES['folders'][:5])}/{random.choice(PIECES['files'][:5])}"


def _make_odd_line(random: Random) -> str:
    kind = random.random()
    if kind < 0.35:
        return random.choice(PIECES["odd_lines"])
    if kind < 0.4:
        return random.choice(LONG)
    if kind < 0.6:
        path = f"{random.choice(PIECES['folders'])}/{random.choice(PIECES['files'])}"
        forms = ("-w {} -p wa -k x", "-a always,exit -F path={} -F perm=wa", "-w {}", "-w .{}")
        folder = f"-a always,exit -F dir={random.choice(PIECES['folders'])}{random.choice(('', '/', '/.', '/nosuch'))}"
        return random.choice((*(form.format(path) for form in forms), folder))
    line = _make_line(random)
    if kind < 0.7:
        return re.sub(r"^-a \S+", lambda _: f"-a {random.choice(PIECES['odd_lists'])}", line)
    kinds = (
        ("-F ", "odd_fields"),
        ("-F ", "odd_fields"),
        ("-C ", "odd_compared"),
        ("-S ", "odd_calls"),
        ("", "fields"),
    )
    flag, names = random.choice(kinds)
    words = line.split(" ")
    words.insert(2 * random.randrange(1, max(len(words) // 2, 1) + 1), f"{flag}{random.choice(PIECES[names])}")
    return " ".join(words)


@dataclass(frozen=True)
class Loaded:
    """What auditctl did with one file."""

    text: str
    code: int
    said: str
    rules: int
    """As many as the kernel lists, if loading did not stop."""

    @property
    def stopped_at(self) -> int:
        """The line at which loading ended; 0 if none stopped it. auditctl counts the pieces of long lines."""
        found = re.search(r"There was an error in line (\d+) of ", self.said) if self.code else None
        pieces = [
            number
            for number, line in enumerate(self.text.split("\n"), 1)
            for _ in split_line_at_auditctl_buffer_size(line)
        ]
        return pieces[int(found[1]) - 1] if found else 0


LOAD_ALL = """
auditctl -e 1 >/dev/null; systemctl stop auditd 2>/dev/null; umask 077
mkdir -p /root/rules; cd /root/rules && rm -f -- * && tar -xf - && for one in *; do
  auditctl -R "/root/rules/$one" >/root/said 2>&1; code=$? tries=0; : >/root/listed
  # auditctl does not list the rules if the machine was too busy, nor behind a line like "-f 1 -f 0": it is asked again.
  while [ $code = 0 ] && [ $tries -lt 10 ] && ! grep -q '^-' /root/said && ! grep -qE '^(-|No rules)' /root/listed; do
    [ $tries = 0 ] || sleep 0.5
    auditctl -l >/root/listed 2>&1; tries=$((tries + 1))
  done
  cat /root/said /root/listed; printf '\\002%s\\001' $code
done
auditctl -D >/dev/null 2>&1; auditctl -b 8192 >/dev/null; auditctl -r 0 >/dev/null
"""
"""For root of the machine: loads each file of an archive on stdin."""
LAST = "\n-l\n"
"""Behind each file, so that one that loads to its end lists the rules."""


def pack_files(texts: Sequence[str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for number, text in enumerate(texts):
            member = tarfile.TarInfo(f"{number:05d}")
            member.size, member.mode = len(text.encode()), 0o600
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


def read_answers(texts: Sequence[str], output: str) -> Iterator[Loaded]:
    for text, part in zip(texts, output.split("\x01")[:-1], strict=True):
        said, code = part.split("\x02")
        yield Loaded(
            text, int(code), said, sum(line.startswith(("-a ", "-A ", "-w ", " -p ")) for line in said.split("\n"))
        )
