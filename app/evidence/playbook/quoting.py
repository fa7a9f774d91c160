"""Quotes foreign text for YAML, tags and comments, and writes the texts that the role and the script share."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from app.evidence.build_id import compute_build_id
from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit
from app.evidence.playbook.repeatable_fixes import Fix, PortableFixes
from app.evidence.run_record import RunRecord
from app.targets.ssh.shell_script import read_script_part
from app.text.clean import clean_text

Plain = str | bool | Sequence["Plain"] | Mapping[str, "Plain"]

_TAG = re.compile(r"[^A-Za-z0-9_.-]+")
_JINJA = re.compile(r"\{[{%#]")
_ESCAPED = re.compile(r"\\x..|\\u.{4}|\\U.{8}|.")
_KEPT_AS_IS = re.compile(r"[ !#-\[\]-~]")
_LONGEST = 300
_WIDEST = 110


def to_rule_tag(name: str) -> str:
    """Convert a rule's id, which can be foreign text, to a safe tag and folder name."""
    return _TAG.sub("-", name)[:120].strip("-.") or "rule"


def to_yaml(value: Plain, indent: int = 0) -> str:
    """Serialize in block style, so that neither YAML nor Jinja interprets text.

    `!unsafe` is used only where Jinja would act, since marked text that looks like a number or null is read as one.
    """
    pad = " " * indent
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        quoted = _wrap_quoted_text(quote_yaml(value), indent)
        return f"!unsafe {quoted}" if _JINJA.search(value) else quoted
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, Mapping):
        return "".join(f"\n{pad}{key}:{_format_after_yaml_key(held, indent)}" for key, held in value.items())
    return "".join(f"\n{pad}- {to_yaml(held, indent + 2).lstrip()}" for held in value)


def _format_after_yaml_key(held: Plain, indent: int) -> str:
    said = to_yaml(held, indent + 2)
    return said if said.startswith("\n") else f" {said}"


def _wrap_quoted_text(quoted: str, indent: int) -> str:
    """Break a long quoted text over lines, each of which but the last ends with a backslash."""
    parts: list[str] = [""]
    for one in _ESCAPED.findall(quoted):
        if len(parts[-1]) + len(one) > _WIDEST:
            parts.append("\\" if one == " " else "")
        parts[-1] += one
    return f"\\\n{' ' * (indent + 2)}".join(parts)


def to_yaml_block(text: str, indent: int) -> str:
    """Return our own text as a literal block."""
    lines = (f"{' ' * indent}{line}" if line else "" for line in text.rstrip("\n").split("\n"))
    return "!unsafe |\n" + "\n".join(lines) + "\n"


def quote_yaml(text: str) -> str:
    return f'"{"".join(map(_escape_letter_if_unsafe, text))}"'


def _escape_letter_if_unsafe(one: str) -> str:
    if _KEPT_AS_IS.fullmatch(one):
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def list_judge_script_arguments(edit: PlaybookEdit) -> list[str]:
    """Return the arguments of judge.sh after the root."""
    passing = "passing" if edit.passing else "behind" if edit.behind else ""
    return [edit.do, edit.path, edit.old, edit.new, edit.states, edit.after, edit.mode, passing, *edit.later]


def to_comment(lines: Iterable[str]) -> str:
    """Return each text as comment lines, with its own newlines removed."""
    texts = (clean_text(" ".join(line.split()), _LONGEST) for line in lines)
    return "".join(f"# {part}\n" for text in texts for part in wrap(text, _WIDEST) or [""])


def read_reload_shell_function() -> str:
    """Return the sh function `temper_reload`, which reloads a service as Temper does in a run."""
    return read_script_part("service") + (Path(__file__).parent / "reload.sh").read_text()


def describe_origin(case: RunRecord) -> str:
    played = f" That run was a simulation of {case.simulated}." if case.simulated else ""
    return f"Made by {compute_build_id()} from run {case.run} on {clean_text(case.request.host, 100)}.{played}"


def list_fix_comment_lines(fix: Fix) -> list[str]:
    """Return comment lines on one fix, for a person who reviews it before running it."""
    found = [f"{fix.named.group} {fix.named.stig_id} CAT {fix.rule.category}: {fix.rule.title}"]
    found += [f"Can break: {fix.rule.breaks}"] if fix.rule.breaks else []
    found += [f"In the run, {note}" for note in fix.notes]
    found += [f"Asked in the run and not here: {', '.join(fix.unasked)}"] if fix.unasked else []
    return found


def format_exclusion_lines(portable_fixes: PortableFixes) -> list[str]:
    return [f"{one.rule}: {one.why}" for one in portable_fixes.left] or ["none"]
