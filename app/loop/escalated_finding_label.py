"""Names in a few words what an escalated finding leaves to a person; equal questions are shown together."""

from app.loop.state import Item
from app.targets.planned_effects_of_actions import IMPOSSIBLE

_BY_REFUSAL = (
    (("no installation candidate", "Unable to locate package"), "needs a package source"),
    ((f"{IMPOSSIBLE}:", "it has no systemctl"), "cannot be done on this host"),
    (("lockout:", "protected identity:"), "would end a login or sudo"),
    (("too much:",), "would add more than the rule names"),
    (("weakening:", "privilege:", "network:", "evidence tampering:"), "would weaken another setting"),
)
"""Words of a refusal, and the question that it leaves."""
_BY_CAUSE = {
    "alarm": "would harm this host",
    "scanner": "was changed, and the scanner still fails it",
    "vetoed": "was changed, and the Auditor refused it",
    "change failed": "could not be put in force",
    "disapproved": "was refused by a person",
    "engine": "has no answer from an engine",
}
UNKNOWN = "has no proposal that is safe here"


def describe_escalated_question(item: Item) -> str:
    known = next((one.question for one in item.candidates if one.question), "")
    if known:
        return known
    for failure in reversed(item.failures):
        if question := _BY_CAUSE.get(failure.cause):
            return question
    refusals = " ".join(one.refusal for one in item.candidates)
    return next((question for words, question in _BY_REFUSAL if any(word in refusals for word in words)), UNKNOWN)
