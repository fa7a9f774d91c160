"""Asks a host's own programs what files cannot tell: one call for all questions, and it changes nothing."""

from collections.abc import Sequence

from app.events.architect_questions_about_host import AskDaemon, AskKernel, AskManual, AskPackage, AskUnit, Question
from app.targets.ssh.connection import SshConnection

_NONE = "-"
_SECONDS = 60.0


def ask_questions_programs_can_answer(connection: SshConnection, questions: Sequence[Question]) -> dict[Question, str]:
    """Return the answers of the host's programs; questions that they do not answer are left out."""
    words = {one: found for one in questions if (found := _to_script_arguments(one))}
    if not words:
        return {}
    said = connection.run("inquire", *(word for three in words.values() for word in three), seconds=_SECONDS)
    rows = said.report.get_rows("answer")
    return {one: "\n".join(text for at, text in rows if at == str(number)) for number, one in enumerate(words, 1)}


def _to_script_arguments(question: Question) -> tuple[str, str, str] | None:
    """Return kind and words for the script, or None for a question that needs no program."""
    match question:
        case AskDaemon():
            return question.program, question.user, question.key or _NONE
        case AskUnit():
            return "unit", question.unit, _NONE
        case AskPackage():
            return "package", question.package, _NONE
        case AskKernel():
            return "kernel", question.key, _NONE
        case AskManual():
            return "manual", question.page, question.section
        case _:
            return None
