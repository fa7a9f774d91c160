"""Kernel arguments on a host whose boot loader reads entries: in each of them, and for menus to come."""

from dataclasses import replace

import pytest

from app.candidates.gather import gather_candidates, judge_candidates
from app.events.event_field_types import Reload, ReplaceLine
from app.skills.skill import ContentFix
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.overlay import Overlay
from app.targets.rule_scope import RuleScope

MENUS, ENTRIES, NEW = "/etc/default/grub", "/boot/loader/entries", "/etc/kernel/cmdline"
OPTIONS = "options root=/dev/mapper/rhel-root ro audit=0 $tuned_params"
ENTRY = f"title RHEL\nlinux /vmlinuz-5.14\ninitrd /initramfs-5.14.img $tuned_initrd\n{OPTIONS}\n"
STARTS = ("boot-entry options", "new-kernel ")
FIX = 'Add the argument:\n\n$ sudo grubby --update-kernel=ALL --args="{}"'
TASKS = """
- name: Correct the arguments
  command: /sbin/grubby --update-kernel=ALL --args="audit=1 "
"""


@pytest.fixture
def target(tmp_path):
    one = FixtureTarget("fixture", tmp_path)
    one.prepare()
    for path, text in {
        MENUS: 'GRUB_CMDLINE_LINUX="quiet"\nGRUB_ENABLE_BLSCFG=true\n',
        f"{ENTRIES}/0-rescue.conf": ENTRY.replace("5.14", "0-rescue"),
        f"{ENTRIES}/a-5.14.conf": ENTRY,
        NEW: f"{OPTIONS.removeprefix('options ')}\n",
    }.items():
        file = tmp_path / "root" / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return one


def judge(target, arguments="audit=1", tasks=""):
    skill = replace(STIG, list_tasks=lambda _: (ContentFix("the content's Ansible tasks", tasks),) if tasks else ())
    rule = replace(STIG.rules["V-257984"], fix="" if tasks else FIX.format(arguments))
    scope = RuleScope("V-257984", rule.fix or TASKS, paths=(MENUS,))
    return judge_candidates(gather_candidates(skill, rule, target.files), target, rule.asks, scope)


@pytest.mark.parametrize("tasks", ["", TASKS])
def test_an_argument_goes_into_each_entry_and_what_stands_there_stays(target, tasks):
    one = judge(target, tasks=tasks)[0]
    assert (one.refusal, one.gap, one.actions[-1]) == ("", "", Reload(service="grub"))
    planned = target.assess_actions(one.actions, frozenset(one.places)).plan.after
    files = Overlay(target.files, planned)
    assert files.read(MENUS) == b'GRUB_CMDLINE_LINUX="quiet audit=1"\nGRUB_ENABLE_BLSCFG=true\n'
    assert files.read(f"{ENTRIES}/a-5.14.conf").decode() == ENTRY.replace("audit=0", "audit=1")
    assert files.read(f"{ENTRIES}/0-rescue.conf").decode() == ENTRY.replace("5.14", "0-rescue").replace(
        "audit=0", "audit=1"
    )
    assert files.read(NEW).decode() == "root=/dev/mapper/rhel-root ro audit=1 $tuned_params\n"


def test_a_host_without_a_file_for_new_kernels_gets_none(target, tmp_path):
    (tmp_path / "root" / NEW[1:]).unlink()
    assert NEW not in judge(target)[0].places


def test_a_host_that_boots_by_menus_keeps_its_entries(target, tmp_path):
    (tmp_path / "root/etc/default/grub").write_text('GRUB_CMDLINE_LINUX="quiet"\n# GRUB_ENABLE_BLSCFG=true\n')
    [one] = [one for one in judge(target) if one.is_usable]
    assert one.places == (MENUS,)


@pytest.mark.parametrize("arguments", ["selinux=0", "audit=1 single", "audit=0"])
def test_an_argument_that_switches_no_protection_on_is_refused(target, arguments):
    assert not any(one.is_usable for one in judge(target, arguments))


@pytest.mark.parametrize("path", [f"{ENTRIES}/a-5.14.conf", NEW])
def test_a_longer_backlog_of_one_place_is_not_made_shorter(target, tmp_path, path):
    file = tmp_path / "root" / path[1:]
    file.write_text(file.read_text().replace("audit=0", "audit_backlog_limit=16384"))
    assert not any(path in one.places for one in judge(target, "audit_backlog_limit=8192") if one.is_usable)
    assert any(path in one.places for one in judge(target, "audit_backlog_limit=32768") if one.is_usable)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OPTIONS, OPTIONS.replace(" ro", "")),
        (OPTIONS, f"{OPTIONS} init=/bin/sh"),
        ("linux /vmlinuz-5.14", "linux /vmlinuz-4.18"),
        ("title RHEL", "title other"),
    ],
)
@pytest.mark.parametrize("path", [f"{ENTRIES}/a-5.14.conf", NEW])
def test_nothing_else_of_an_entry_may_change(target, path, old, new):
    if path == NEW:
        old, new = (one.removeprefix("options ") for one in (old, new))
    asks = frozenset(f"{start} {what}" for start in STARTS for what in ("audit 1", "init /bin/sh"))
    assessed = target.assess_actions((ReplaceLine(path=path, old=old, new=new),), frozenset({path}), asks)
    assert assessed.refusals
