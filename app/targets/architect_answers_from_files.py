"""Answers questions about a host from its files: only what may be shown, redacted and cut."""

import re
from collections.abc import Collection, Iterator, Sequence

from app.events.architect_questions_about_host import MOST_ANSWER, AskDaemon, AskFile, AskKernel, AskUse, Question
from app.syntax import host_text, sshd, sudoers
from app.syntax.host_text import fold_case
from app.syntax.sshd_effective_settings import compute_sshd_settings, detect_sshd_program
from app.syntax.sshd_match import ConnectionSpec
from app.targets.effects.sysctl import SystemdSysctl
from app.targets.files_that_roles_may_see import ABSENT, LinkFollowingFiles, explain_withholding, is_read_restricted
from app.targets.host_accounts import read_host_accounts
from app.targets.questions.sudo_grants import resolve_usable_and_passwordless_rights
from app.targets.writable_areas import JUDGES
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

NOTHING_FOUND = "nothing was found"
NOT_RUNNING = "not known: this host is a tree of files, and nothing runs on it"
_MOST_USES, _LONGEST_LINE = 8, 300


def explain_question_refusal(question: Question, files: LinkFollowingFiles, rule_paths: Collection[str]) -> str:
    """Return why the question is not answered, an empty string if it is. `rule_paths` has the paths of the rule."""
    if isinstance(question, AskFile):
        why = explain_withholding(question.path, files, rule_paths)
        return f"{question.path}: {why}" if why else ""
    if isinstance(question, AskKernel) and "secret" in question.key:
        return f"what the kernel keeps secret is not shown, as in {question.key}"
    return ""


def answer_from_files(question: Question, files: LinkFollowingFiles, rule_paths: Collection[str]) -> str:
    """Return what the files tell, by our own reading; an empty string if they tell nothing of it."""
    match question:
        case AskFile():
            return _number_file_lines(question, files)
        case AskUse():
            return "\n".join(_iterate_word_uses_grouped_by_file(question, files, rule_paths)) or NOTHING_FOUND
        case AskDaemon():
            told = "\n".join(_read_sshd_or_sudo_settings(question, files)) or NOTHING_FOUND
            return f"{told}\n(by our reading of the files)"
        case AskKernel():
            value = SystemdSysctl().load_files(files).find_value(question.key)
            return f"{'no file sets it' if value is None else f'the files set {value}'}; {NOT_RUNNING}"
        case _:
            return ""


def clean_answer(text: str) -> str:
    """Return the host's answer, redacted, cleaned and cut."""
    return clean_text(redact_secrets(text), MOST_ANSWER).strip() or NOTHING_FOUND


def select_lines_starting_with_key(lines: Sequence[str], key: str) -> list[str]:
    """Return the lines that begin with the setting; all of them without one."""
    return [line for line in lines if not key or fold_case(line).startswith(fold_case(f"{key} "))]


def _number_file_lines(question: AskFile, files: LinkFollowingFiles) -> str:
    shown = _find_redacted_lines(question.path, files)
    if shown is None:
        return ABSENT
    numbered = (f"{number}: {line}" for number, line in enumerate(shown, 1) if number >= question.first)
    return "\n".join(numbered) or f"it has {len(shown)} lines"


def _find_redacted_lines(path: str, files: LinkFollowingFiles) -> list[str] | None:
    """Return the lines of a file as they may be shown: what is secret is gone before anything is searched."""
    text, state = host_text.read_text(files, path), files.state(path)
    if text is None or state is None:
        return None
    redacted = redact_secrets(text, from_restricted_file=is_read_restricted(state.mode))
    return [clean_text(line, _LONGEST_LINE) for line in redacted.rstrip("\n").split("\n")]


def _list_readable_paths_sorted(files: LinkFollowingFiles, rule_paths: Collection[str]) -> list[str]:
    patterns = dict.fromkeys([*(pattern for pattern, _ in JUDGES), *rule_paths])
    found = dict.fromkeys(path for pattern in patterns for path in files.glob(pattern))
    return sorted(path for path in found if not explain_withholding(path, files, rule_paths))


def _iterate_word_uses_grouped_by_file(
    question: AskUse, files: LinkFollowingFiles, rule_paths: Collection[str]
) -> Iterator[str]:
    """Yield each file that has the word, and its lines with it."""
    word = re.compile(rf"(?<![\w-]){re.escape(question.word)}(?![\w-])", re.IGNORECASE)
    for path in _list_readable_paths_sorted(files, rule_paths):
        numbered = enumerate(_find_redacted_lines(path, files) or (), 1)
        found = [f"  {number}: {line.strip()}" for number, line in numbered if word.search(line)]
        if found:
            yield "\n".join([path, *found[:_MOST_USES]])


def _read_sshd_or_sudo_settings(question: AskDaemon, files: LinkFollowingFiles) -> list[str]:
    people = read_host_accounts(files)
    if people.find_account(question.user) is None:
        return [f"there is no account {question.user}"]
    if question.program == "sudo":
        rights, _ = resolve_usable_and_passwordless_rights(sudoers.read_sudoers(files), people, question.user)
        return [f"{question.user} may run {right}" for right in rights]
    who = ConnectionSpec(question.user, people.list_groups(question.user))
    found = compute_sshd_settings(sshd.read_sshd_config(files), detect_sshd_program(files), who)
    return select_lines_starting_with_key(
        [f"{keyword} {value}" for keyword, value in sorted(found.items())], question.key
    )
