"""What a vendor's own script makes of a disposable Debian: the bash that OpenSCAP generates from its content.

It runs as root, as it is meant to, and nothing takes it back. Harm is asked with the probes that a run asks with.
"""

import asyncio
import shlex
from collections.abc import Sequence

from lxml import etree

from app.errors import TemperError, Unusable
from app.events.words import Probe
from app.loop.harm import worse
from app.scores.deeds import SCRIPT, Seen, confirmed, read_deeds
from app.scores.result import Fate, ScoreOrder, Trial, Way
from app.scores.ssh import SshRan, over_ssh
from app.skills.catalog import skill
from app.targets.rootfs.machine import Rootfs
from app.targets.target import Target
from app.text.clean import clean

_SECONDS = 1500.0
_RESULT = "{http://checklists.nist.gov/xccdf/1.2}rule-result"
_SCRIPT = """
set -u
content=$1 profile=$2
exec 3>&1 1>&2
cd "$(mktemp -d)"
scan() { oscap xccdf eval --profile "$profile" @RULES --results "$1" "$content" >/dev/null; }
scan before
oscap xccdf generate fix --fix-type bash --result-id '' --output fix.sh before
[ -s fix.sh ] || { echo 'no script was generated'; exit 9; }
began=$(date +%s.%N)
timeout 900 bash fix.sh </dev/null >/dev/null 2>&1
ended=$(date +%s.%N)
# What a reboot does sooner or later: the SSH server reads what it was given.
kill -HUP "$(cat /run/sshd.pid)"
scan after
sh 2>/dev/null <<'DEEDS' >deeds
@DEEDS
DEEDS
{ echo '<<before>>'; cat before; echo; echo '<<after>>'; cat after; echo; echo '<<deeds>>'; cat deeds
  echo '<<took>>'; echo "$began $ended"; } >&3
"""
_WAYS = (
    ("root by its key", "root", "true"),
    ("temper by sudo", "temper", "sudo -n true"),
    ("opsadmin may start sudo", "opsadmin", "sudo -V >/dev/null"),
)


async def by_bash(order: ScoreOrder, seed: int, machine: Rootfs, target: Target, content: str, profile: str) -> Trial:
    """On a machine that was just made new. The scans run in the one shell that was root before the script was."""
    ids = {skill(order.skill).rules[rule].stig_id: rule for rule in order.rules}
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    was, open_before = await asyncio.to_thread(target.health), await _ways(machine)
    script = _SCRIPT.replace("@RULES", " ".join(f"--rule {shlex.quote(one)}" for one in ids)).replace("@DEEDS", SCRIPT)
    line = shlex.join(["sudo", "-n", "bash", "-s", "--", content, profile])
    ran = await over_ssh(machine.reachable(), line, _SECONDS, script.encode())
    before, after, seen, seconds = _read(ran)
    harm = await _harm(was, target)
    open_after = await _ways(machine)
    fates = tuple(
        Fate(rule=rule, opening=before.get(one, "unknown"), closing=after.get(one, "unknown"))
        for one, rule in ids.items()
    )
    return Trial(
        seed=seed,
        host=order.host,
        rules=order.rules,
        fates=confirmed(fates, seen),
        worse=harm,
        ways=tuple(Way(name, open_before[name], open_after[name]) for name in open_before),
        seconds=round(seconds, 3),
    )


async def _ways(machine: Rootfs) -> dict[str, bool]:
    """Each by a new login."""
    found = {}
    for name, account, command in _WAYS:
        at = machine.reachable("root" if account == "root" else "temper")
        found[name] = (await over_ssh(at, command, 60, account=account)).code == 0
    return found


async def _harm(was: Sequence[Probe], target: Target) -> tuple[str, ...]:
    try:
        harm = worse(was, await asyncio.to_thread(target.health))
    except TemperError as exc:
        harm = f"the host can no longer be looked at: {clean(str(exc), 300)}"
    return (harm,) if harm else ()


def _read(ran: SshRan) -> tuple[dict[str, str], dict[str, str], Seen, float]:
    parts = ran.out.split(b"<<took>>\n")
    if ran.code != 0 or len(parts) != 2:
        raise Unusable(
            f"the script of the content could not be scored (exit {ran.code}): {clean(ran.told[-400:], 400)}"
        )
    results, _, seen = parts[0].partition(b"<<deeds>>\n")
    before, _, after = results.partition(b"<<after>>\n")
    began, ended = map(float, parts[1].split())
    told = read_deeds(seen.decode("utf-8", "replace"))
    return _words(before.removeprefix(b"<<before>>\n")), _words(after), told, ended - began


def _words(results: bytes) -> dict[str, str]:
    """The scanner's word by the rule's id; what the host wrote is read without entities and without a network."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root = etree.fromstring(results.strip(), parser)
    found = ((str(one.get("idref")), one.findtext("{*}result") or "unknown") for one in root.iter(_RESULT))
    return {rule: word for rule, word in found if word != "notselected"}
