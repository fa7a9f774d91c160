"""Run a vendor's own fixes on a disposable machine, such as the bash script that OpenSCAP generates.

The fixes run as root, as intended, without rollback. Harm is measured with the same probes as in a run.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from app.errors import EnvironmentUnusable, TemperError
from app.events.event_field_types import Probe
from app.loop.harm_seen_by_probes import find_first_harm, find_first_harm_after_reboot
from app.scores.machine_second_check import (
    SCRIPTS,
    Observations,
    build_observation_script,
    copy_with_effects,
    parse_observations,
)
from app.scores.score_structures import RootWay, ScoreOrder, Trial, TrialOutcome
from app.scores.ssh_client import SshResult, run_over_ssh
from app.skills.catalog import load_skill
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.target import Target
from app.targets.vm.virtual_machine import VirtualMachine
from app.text.clean import clean_text

SECONDS = 3600.0
_RESULT = "{http://checklists.nist.gov/xccdf/1.2}rule-result"
WAYS_TO_ROOT = (
    ("root by its key", "root", "true"),
    ("temper by sudo", "temper", "sudo -n true"),
    ("opsadmin may start sudo", "opsadmin", "sudo -V >/dev/null"),
)


@dataclass(frozen=True)
class VendorOutcome:
    """Scanner verdicts before and after, observed effects, and the reasons for fixes that were not run."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    seen: Observations
    seconds: float
    wants: Mapping[str, str] = field(default_factory=dict)


async def run_vendor_trial_on_new_machine(
    order: ScoreOrder,
    seed: int,
    new_machine: Rootfs | VirtualMachine,
    target: Target,
    run_fixes: Callable[[str], Awaitable[VendorOutcome]],
) -> Trial:
    """Run a vendor's fixes on a new machine as a trial. `run_fixes` receives the rules as oscap arguments."""
    ids = {load_skill(order.skill).rules[rule].stig_id: rule for rule in order.rules}
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    was, open_before = await asyncio.to_thread(target.check_health), await probe_ways_to_root(new_machine)
    found = await run_fixes(" ".join(f"--rule {shlex.quote(one)}" for one in ids))
    harm = await _describe_first_harm_if_any(was, target, is_rebooted=order.is_rebooted)
    open_after = await probe_ways_to_root(new_machine)
    fates = tuple(
        TrialOutcome(
            rule=rule,
            opening=found.before.get(one, "unknown"),
            closing=found.after.get(one, "unknown"),
            failed_at="not run" if rule in found.wants else "",
            wants=found.wants.get(rule, ""),
        )
        for one, rule in ids.items()
    )
    return Trial(
        seed=seed,
        host=order.host,
        rules=order.rules,
        fates=copy_with_effects(order.skill, fates, found.seen),
        worse=harm,
        ways=build_root_ways(open_before, open_after),
        seconds=round(found.seconds, 3),
    )


def build_root_ways(before: Mapping[str, bool], after: Mapping[str, bool]) -> tuple[RootWay, ...]:
    return tuple(RootWay(name, before[name], after[name]) for name in before)


def load_script_filled_with_rules(script_file_name: str, rule_arguments: str) -> str:
    """Read a script and fill in the rules and the final inspection, which is the same for all kinds of fixes."""
    script, look = ((SCRIPTS / file).read_text() for file in (script_file_name, "look_after.sh"))
    deeds = build_observation_script().decode()
    return script.replace("@LOOK", look.replace("@DEEDS", deeds)).replace("@RULES", rule_arguments)


async def run_bash_fixes_between_scans(
    access: SshAccess, rule_arguments: str, content: str, profile: str
) -> VendorOutcome:
    """Scan, run the bash fixes and scan again, in one root shell that was opened before the fixes."""
    return await _run_root_script("fix_by_bash.sh", access, rule_arguments, content, profile)


async def run_no_fixes_between_scans(
    access: SshAccess, rule_arguments: str, content: str, profile: str
) -> VendorOutcome:
    """Scan twice and change nothing."""
    return await _run_root_script("fix_nothing.sh", access, rule_arguments, content, profile)


async def _run_root_script(
    name: str, access: SshAccess, rule_arguments: str, content: str, profile: str
) -> VendorOutcome:
    script = load_script_filled_with_rules(name, rule_arguments)
    line = shlex.join(["sudo", "-n", "bash", "-s", "--", content, profile])
    ran = await run_over_ssh(access, line, SECONDS, script.encode())
    return parse_outcome(ran)


async def probe_ways_to_root(machine: Rootfs | VirtualMachine) -> dict[str, bool]:
    found = {}
    for name, account, command in WAYS_TO_ROOT:
        at = machine.get_access("root" if account == "root" else "temper")
        found[name] = (await run_over_ssh(at, command, 60, account=account)).code == 0
    return found


async def _describe_first_harm_if_any(
    probe_results_before: Sequence[Probe], target: Target, *, is_rebooted: bool
) -> tuple[str, ...]:
    find_harm = find_first_harm_after_reboot if is_rebooted else find_first_harm
    try:
        harm = find_harm(probe_results_before, await asyncio.to_thread(target.check_health))
    except TemperError as exc:
        harm = f"the host can no longer be looked at: {clean_text(str(exc), 300)}"
    return (harm,) if harm else ()


def parse_outcome(ran: SshResult, unrun_reasons: Mapping[str, str] | None = None) -> VendorOutcome:
    parts = ran.out.split(b"<<took>>\n")
    if ran.code != 0 or len(parts) != 2:
        raise EnvironmentUnusable(
            f"the content's script could not be scored (exit {ran.code}): {clean_text(ran.error_text[-400:], 400)}"
        )
    results, _, seen = parts[0].partition(b"<<deeds>>\n")
    before, _, after = results.partition(b"<<after>>\n")
    began, ended = map(float, parts[1].split())
    first, last = _parse_results(before.removeprefix(b"<<before>>\n")), _parse_results(after)
    told = parse_observations(seen.decode("utf-8", "replace"))
    return VendorOutcome(first, last, told, ended - began, unrun_reasons or {})


def _parse_results(results: bytes) -> dict[str, str]:
    """Parse scanner verdicts by rule id. The host's XML is untrusted: no entities and no network."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root = etree.fromstring(results.strip(), parser)
    found = ((str(one.get("idref")), one.findtext("{*}result") or "unknown") for one in root.iter(_RESULT))
    return {rule: word for rule, word in found if word != "notselected"}
