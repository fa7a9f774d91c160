"""Prompts in plain English.

On random tokens speculation succeeds only by chance, so its acceptance would mean nothing."""

from app.engines.chat import Message, Question
from app.machine.measuring.probe_steps import ProbeStep

_PASSAGES = (
    """A server of the mission group accepts root logins over SSH. The nightly backup depends on it: the vault machine
connects at two in the morning with its own key, reads the configuration and the inbox, and disconnects. Nobody
has looked at this arrangement for three years. The requirement says that no person and no program may log in as
root over the network, because an action of root cannot be traced to one person. An account for the backup
exists already, with a key and with read access to what the backup copies, but the backup has never used it.""",
    """Files that the deploy account uploads take their permissions from the login umask, which is 022 today. The
application reads them through its group. The requirement asks for a umask of 077, under which a new file
belongs to its owner alone. The setting stands in one file, is read at login, and is overridden by whatever the
upload service says for itself. A change that satisfies the scanner and leaves the application unable to read
its inbox would be found by the people on shift the next morning, when the first report is missing.""",
    """Passwords on this host must be at least fifteen characters long. The main file says so since last spring, yet
the scanner still reports eight. A drop-in of the vendor's image sets the length as well, and drop-ins are read
after the main file, so the vendor has the last word. The administrators were sure that the finding was an error
of the scanner. It was not: a new account with a short password was accepted in front of them.""",
    """The audit system writes its records to a partition of its own, which is four fifths full. The requirement says
that the machine must stop when it can no longer write them. On a machine that controls nothing this is sound;
on this one a stop at the wrong moment is worse than a gap in the log. The rule that makes the configuration
immutable has to come last, because after it nothing can be added until the machine starts again.""",
)
_TASKS = (
    "Explain what has to be changed, in which order, and why that order matters.",
    "Describe how you would show that the change did what it was meant to do, and that nothing else broke.",
    "Write the note that the administrators on shift should read before the change is made.",
    "Describe what could go wrong, how it would be noticed, and how the change would be undone.",
    "Explain the requirement to somebody who has never run a server, with an example.",
    "List what you would want to know about this machine before you touch it, and say why for each.",
    "Compare two ways of meeting the requirement, with what speaks for and against each.",
    "Tell the story of how a machine comes to be in this state, and what would have prevented it.",
)


def create_question(model: str, step: ProbeStep, stream: int, mark: str) -> Question:
    """Build a question. `mark` comes first and is always new, so no prefix cache shortens the first token."""
    first, second = _PASSAGES[stream % len(_PASSAGES)], _PASSAGES[(stream + 1) % len(_PASSAGES)]
    text = f"Case {mark}.\n\n{first}\n\n{second}\n\n{_TASKS[stream % len(_TASKS)]} Take all the room you need."
    return Question(
        model=model,
        messages=(Message("user", text),),
        schema_name="",
        schema=None,
        request_id=f"probe.{mark}",
        max_tokens=step.tokens,
        temperature=0.0,
        extra={"ignore_eos": True},
    )
