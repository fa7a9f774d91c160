"""A vendor's own script on a real Debian: seen on a copy first, then done as it was seen, and undone to the letter."""

import asyncio
import itertools

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionRolledBack,
    ApprovalRequested,
    ItemEscalated,
    ItemPassed,
    SentryAlarm,
    VerdictGiven,
)
from app.loop.harm_seen_by_probes import find_first_harm
from app.resources.vendor_script import create_vendor_action
from app.runs.scanner_factory import create_scanner
from app.scanners.openscap.scap_files import add_benchmark
from app.skills.catalog import load_skill
from app.targets.host_registry import open_target
from tests.hosts.conftest import inside, root_may_log_in
from tests.hosts.test_resources import ALL_OF_IT, put_back
from tests.loop.onfixture import OnFixture

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

CONTENT = "usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
SKILL = "scap:ssg-debian12:anssi_np_nt28_high"
NOTES = "/etc/login.defs"
"""A script may write comments there, which change nothing."""
EMPTY_PASSWORDS, ROOT_LOGIN = "sshd_disable_empty_passwords", "sshd_disable_root_login"


@pytest.fixture(autouse=True)
def content_of_the_machine(machine, tmp_path, monkeypatch):
    """And none of this one's."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    add_benchmark(machine.base_folder / CONTENT)


@pytest.fixture
def scanner(opened, site):
    return create_scanner(load_skill(SKILL), opened, site.data / "hosts")


def theirs(scanner, rule):
    return create_vendor_action(load_skill(SKILL).rules[rule].stig_id, asyncio.run(scanner.fetch_fix_script(rule)))


def word(scanner, opened, rule):
    return asyncio.run(scanner.scan(opened.files, [rule]))[0].word


def test_a_rule_is_fixed_as_it_was_on_the_copy_and_undone_to_the_letter(opened, machine, scanner):
    opened.prepare()
    was, fine = inside(machine, ALL_OF_IT), opened.check_health()
    action = theirs(scanner, EMPTY_PASSWORDS)
    place = frozenset({f"vendor:{action.rule}"})
    assert word(scanner, opened, EMPTY_PASSWORDS) == "fail"
    shown = opened.assess_actions([action], place)
    assert f"vendor's script {action.rule}, sha256 {action.sha256}\n| " in shown.diff
    assert "+PermitEmptyPasswords no" in shown.diff
    assert opened.assess_actions([action], place).refusals == ()
    assert inside(machine, ALL_OF_IT) == was
    done = opened.apply("theirs", [action], place)
    assert done.diff == shown.diff
    assert word(scanner, opened, EMPTY_PASSWORDS) == "pass"
    assert opened.describe_drift(done.changes) == ()
    assert find_first_harm(fine, opened.check_health()) is None
    put_back(opened, machine, "theirs", was)


def test_one_that_shuts_somebody_out_is_seen_by_the_probes_and_undone(opened, machine, scanner):
    opened.prepare()
    was, fine = inside(machine, ALL_OF_IT), opened.check_health()
    action = theirs(scanner, ROOT_LOGIN)
    opened.apply("harm", [action], frozenset({f"vendor:{action.rule}"}))
    assert not root_may_log_in(machine)
    assert "root" in find_first_harm(fine, opened.check_health())
    put_back(opened, machine, "harm", was)
    assert root_may_log_in(machine)


async def by_a_run(site, target, rule, decision):
    """Whatever the Worker tries is refused by hand; what is asked about next is the content's script."""
    asked_for = load_skill(SKILL)
    scanner = create_scanner(asked_for, target, site.data / "hosts")
    here = OnFixture(site.data / "r", skill=asked_for, scanner=scanner, target=target)
    answering = asyncio.create_task(answered_by(here, decision))
    await here.run(rule, mode="review", budget=Budget(attempts=1))
    answering.cancel()
    return here


async def answered_by(here, decision):
    for count in itertools.count(1):
        await here.kept.until(ApprovalRequested, count=count)
        asked = here.events(ApprovalRequested)[-1]
        said = decision if asked.diff.startswith("vendor's script") else "refuse"
        here.person.says(said, approval=asked.approval, reason="read it")


@pytest.mark.parametrize(("rule", "end"), [(EMPTY_PASSWORDS, ItemPassed), (ROOT_LOGIN, ItemEscalated)])
def test_a_run_asks_a_person_and_keeps_what_holds_and_undoes_what_harms(site, machine, rule, end):
    was = inside(machine, ALL_OF_IT)
    target = open_target("deb", site.data / "hosts")
    here = asyncio.run(by_a_run(site, target, rule, "approve"))
    asked = here.events(ApprovalRequested)[-1]
    assert asked.diff.startswith("vendor's script xccdf_")
    assert asked.needs.people == 1
    assert here.events(ActionApplied)[0].diff == asked.diff
    assert here.events(VerdictGiven)[-2].word == "pass"
    assert len(here.events(end)) == 1
    if end is ItemEscalated:
        assert "root" in here.events(SentryAlarm)[0].reason
        assert here.events(ActionRolledBack)[0].differences == ()
        assert inside(machine, ALL_OF_IT) == was


def test_refused_it_never_runs(site, machine):
    was = inside(machine, ALL_OF_IT)
    here = asyncio.run(by_a_run(site, open_target("deb", site.data / "hosts"), EMPTY_PASSWORDS, "refuse"))
    assert here.events(ActionApplying) == []
    assert inside(machine, ALL_OF_IT) == was


@pytest.mark.parametrize(
    ("script", "clause"),
    [
        ("echo 'ALL ALL=(ALL) NOPASSWD: ALL' >>/etc/sudoers\n", "weakening"),
        ("rm /etc/issue\n", "not understood"),
        ("ln -sf /dev/null /etc/issue\n", "not understood"),
        ("echo x >/usr/bin/nothing || rm -f /etc/issue\n", "not understood"),
    ],
)
def test_what_weakens_on_the_copy_or_could_not_be_put_back_is_never_run(opened, machine, script, clause):
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    action = create_vendor_action("trial", script)
    place = frozenset({"vendor:trial"})
    assert [one.clause for one in opened.assess_actions([action], place).refusals] == [clause]
    with pytest.raises(ActionFailed):
        opened.apply("never", [action], place)
    assert inside(machine, ALL_OF_IT) == was


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "echo garbage >/etc/rsyslog.d/x.conf\n",
            "rsyslogd refuses it: error during parsing file /etc/rsyslog.d/x.conf",
        ),
        ("echo '$NoSuch on' >>/etc/rsyslog.conf\n", "rsyslogd refuses it: invalid or yet-unknown"),
        ("mkdir -p /etc/dnf\nprintf '[main]\\ngarbage\\n' >/etc/dnf/dnf.conf\n", "line 2: dnf cannot read 'garbage'"),
    ],
)
def test_garbage_is_refused_by_the_program_that_would_read_it(opened, machine, script, why):
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    action, place = create_vendor_action("trial", script), frozenset({"vendor:trial"})
    assert opened.assess_actions([action], place).refusals == ()
    with pytest.raises(ActionFailed) as refused:
        opened.apply("garbage", [action], place)
    assert why in str(refused.value)
    assert inside(machine, ALL_OF_IT) == was


def test_a_script_that_does_otherwise_in_earnest_is_undone(opened, machine):
    """It finds out that it is not on the copy: the two have to come out the same."""
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    script = f"if [ -e /run/sshd.pid ]; then echo '# trial other'; else echo '# trial same'; fi >>{NOTES}\n"
    action = create_vendor_action("trial", script)
    with pytest.raises(ActionFailed, match="something else"):
        opened.apply("otherwise", [action], frozenset({"vendor:trial"}))
    put_back(opened, machine, "otherwise", was)


def test_nothing_beside_the_kept_files_can_be_written_and_no_process_is_reached(opened, machine):
    opened.prepare()
    script = (
        "for at in /usr /var/lib/temper /root /boot; do\n"
        f'(echo x >$at/x) 2>/dev/null && echo "# trial $at" >>{NOTES}; done\n'
        f"kill -0 $PPID 2>/dev/null; mount -o remount,rw / 2>/dev/null && echo '# trial mounted' >>{NOTES}\n"
        f"(: >/dev/pts/ptmx) 2>/dev/null && echo '# trial device' >>{NOTES}\n"
        f"echo '# trial done' >>{NOTES}\n"
    )
    opened.apply("walls", [create_vendor_action("trial", script)], frozenset({"vendor:trial"}))
    assert inside(machine, f"grep trial {NOTES}") == "# trial done"
    opened.roll_back("walls")
