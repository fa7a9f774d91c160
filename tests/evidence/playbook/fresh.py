"""What is taken away, tried on a host as fresh as the run's was."""

from app.events.event_field_types import PublishedRule
from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit, mark_inserts_after_added_lines
from app.evidence.playbook.repeatable_fixes import ExcludedRule, Fix, PlainCheck, PortableFixes
from app.skills.catalog import load_skill
from app.targets.host_registry import open_target

STIG = load_skill("stig")
RULE = STIG.rules["V-257984"]
HOSTILE = "'; touch /tmp/never; ' {{ lookup('pipe', 'id') }} $(id) \\1 \"%s é"


def fresh_host(folder):
    target = open_target("fixture", folder)
    target.prepare()
    return target


def words(target, rules):
    return {rule: STIG.rules[rule].check(target.files).word for rule in rules}


def tree(folder):
    return {
        str(path): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def fix(*edits, checks=(), rule=RULE, deeds=()):
    named = PublishedRule(rule=rule.id, group=rule.id, id="")
    notes = ("a note\nof two lines {{ 1 }}",)
    return PortableFixes(
        (Fix(rule, named, tuple(mark_inserts_after_added_lines(edits)), deeds, (), (), checks, (), notes),),
        (ExcludedRule("V-1", "x"),),
    )


def harmful(file, rule=RULE):
    """A change after which the host's own answer is worse."""
    check = PlainCheck("sudoers", "no line says bad", f"! grep -q bad '{file}'")
    return fix(PlaybookEdit("replace", str(file), "good", "bad"), checks=(check,), rule=rule)
