"""Would sudo let an account act as root?"""

from app.syntax.sudoers import Sudoers
from app.targets.people import People


def refusal(sudoers: Sudoers, people: People, name: str) -> str:
    """Why it would not; empty when it would. A password that nobody can type is no password."""
    if sudoers.problems:
        problem = sudoers.problems[0]
        return f"sudo does not run: {problem.text} ({problem.path} line {problem.line})"
    groups = people.groups_of(name)
    whole = [grant for grant in sudoers.of(name, groups) if grant.command.lstrip("! ") == "ALL"]
    if not whole:
        return "no line of sudoers grants it everything"
    last = whole[-1]
    if last.command.startswith("!"):
        return f"{last.path} line {last.line} takes it away"
    secret = people.secret(name)
    if "NOPASSWD" in last.tags or _is_trusted(sudoers, name, groups) or (secret and not secret.locked):
        return ""
    return f"it has no password, and {last.path} line {last.line} asks for one"


def _is_trusted(sudoers: Sudoers, name: str, groups: frozenset[str]) -> bool:
    """The last Defaults that reaches the account decides whether it must authenticate."""
    asked = True
    for default in sudoers.defaults:
        listed = [entry.strip() for entry in default.scope[1:].split(",")]
        reaches = not default.scope or (
            default.scope.startswith(":") and ({"ALL", name, *(f"%{group}" for group in groups)} & set(listed))
        )
        if default.name == "authenticate" and reaches:
            asked = not default.negated
    return not asked
