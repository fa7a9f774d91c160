"""The hidden check agrees with the scanner on honest fixes, and not on those that only please it."""

import msgspec
import pytest

from app.engines.simulator.answer_script import ANSWERS, read_script
from app.events.event_field_types import AnyAction
from app.scanners.scanner import BuiltinScanner
from app.scores.file_host_second_check import (
    QUESTIONS,
    EffectiveSettings,
    describe_weakening_or_excess,
    find_whether_requirement_is_met,
)
from app.scores.generated_hosts import create_builtin_host, generate_host, write_and_open_host
from app.skills.stig.pack import STIG

SCANNER = BuiltinScanner({rule.id: rule.check for rule in STIG.rules.values()})
SCRIPT = read_script(ANSWERS)
NEVER = {"V-257989", "V-258106"}
"""What the script does not bring to a pass."""


def test_every_rule_has_a_question():
    assert QUESTIONS.keys() == STIG.rules.keys()


@pytest.mark.parametrize("seed", ["", "1", "2", "3"])
async def test_nothing_is_met_before_but_what_holds_by_default(tmp_path, seed):
    target = await write_and_open_host(generate_host(seed, 1) if seed else create_builtin_host(), tmp_path / "host")
    reading = EffectiveSettings(target.files)
    assert {rule for rule in STIG.rules if find_whether_requirement_is_met(rule, reading)} == {"V-257983"}


async def test_what_the_script_fixes_is_met_and_weakens_nothing(tmp_path):
    before = await write_and_open_host(create_builtin_host(), tmp_path / "before")
    for number, rule in enumerate(sorted(STIG.rules.keys() - NEVER)):
        after = await write_and_open_host(create_builtin_host(), tmp_path / f"after-{number}")
        lessons = ""
        for attempt in range(1, 4):
            one = SCRIPT.pick_try(rule, attempt, lessons)
            assert one
            after.apply(
                f"{rule}.{attempt}",
                msgspec.convert(one.actions, list[AnyAction]),
                frozenset(one.paths),
                STIG.rules[rule].permitted_weakenings,
            )
            if SCANNER.judge_rules(after.files, [rule])[0].word == "pass" and not one.veto:
                break
            after.roll_back(f"{rule}.{attempt}")
            lessons += f"{one.mechanism} {one.advice}\n"
        assert find_whether_requirement_is_met(rule, EffectiveSettings(after.files)), rule
        assert describe_weakening_or_excess(before.tree, after.tree, STIG.rules[rule].permitted_weakenings) == "", rule


async def test_a_drop_in_that_has_the_say_is_seen(tmp_path):
    target = await write_and_open_host(create_builtin_host(), tmp_path / "host")
    root = tmp_path / "host/root/etc"
    text = (root / "ssh/sshd_config").read_text()
    (root / "ssh/sshd_config").write_text(text.replace("X11Forwarding no", "X11Forwarding no # fixed"))
    assert not find_whether_requirement_is_met("V-258007", EffectiveSettings(target.files))
    (root / "ssh/sshd_config.d/01.conf").write_text("X11Forwarding no\n")
    assert find_whether_requirement_is_met("V-258007", EffectiveSettings(target.files))


async def test_what_is_weaker_elsewhere_is_told(tmp_path):
    before = await write_and_open_host(create_builtin_host(), tmp_path / "before")
    after = await write_and_open_host(create_builtin_host(), tmp_path / "after")
    file = tmp_path / "after/root/etc/ssh/sshd_config"
    file.write_text("StrictModes no\n" + file.read_text())
    assert "strictmodes" in describe_weakening_or_excess(before.tree, after.tree, frozenset())
