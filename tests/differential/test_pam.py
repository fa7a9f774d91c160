"""What libpam itself makes of generated stacks, against what we make of them."""

import re
import tempfile
from pathlib import Path
from random import Random

import pytest

from app.events.event_field_types import WriteFile
from app.syntax import pam
from app.syntax.pam import KINDS, PamRule
from app.syntax.pam_lexer import CODES
from app.targets import policy
from app.targets.effects.pam_module_answers import INTRUDERS, RIGHTFUL, create_module_responder
from app.targets.pam_outcome import compute_outcome
from app.targets.program_sandbox import detect_confinement
from tests.differential import dispatch
from tests.differential.harness import tally
from tests.differential.linkless import Linkless
from tests.differential.stacks import Maker
from tests.hostfiles import DictFiles
from tests.thorough import examples

WALL = detect_confinement()
NAMELESS = re.compile(r"(?:@include|include|substack)\s*(?:\\\s*)?$", re.MULTILINE | re.IGNORECASE)
SERVICES = ("login", "sudo", "nowhere")
EVENTS = {
    "auth": ("auth",),
    "account": ("acct",),
    "password": ("prechauthtok", "chauthtok"),
    "session": ("open_session",),
}
"""A password is changed in two rounds, the second if the first went well."""
DENIES = {"auth": "auth_err", "account": "auth_err", "password": "authtok_err", "session": "session_err"}


def theirs(texts: dict[str, str], *services: str) -> dict[tuple[str, str], str] | None:
    """None where libpam did not live to tell."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**texts, "/check/dispatch.py": Path(dispatch.__file__).read_text()}.items():
            at = Path(folder, path[1:])
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(text.encode())
        said = WALL.run(Path(folder), ["/usr/bin/python3", "-SE", "/check/dispatch.py", *services], 20)
    if said.code != 0:
        return None
    lines = [line.split() for line in said.output.split("\n")]
    told = {words[0]: words[1:] for words in lines if len(words) == 1 + len(KINDS) and words[0] in services}
    return {
        (service, kind): "nothing" if code == "-1" else CODES[int(code)]
        for service, codes in told.items()
        for kind, code in zip(KINDS, codes, strict=True)
    }


def answer(rule: PamRule, event: str) -> str:
    """What the modules of the trials return: pam_debug what its arguments say, for the first that names the event."""
    if rule.module in ("pam_permit.so", "pam_deny.so"):
        return "success" if rule.module == "pam_permit.so" else DENIES[rule.kind]
    if rule.module != "pam_debug.so":
        return "module_unknown"
    given = next((word.removeprefix(f"{event}=") for word in rule.arguments if word.startswith(f"{event}=")), "success")
    return given if given in CODES else "success"


def ours(texts: dict[str, str], service: str, kind: str) -> str:
    chains = pam.find_chains_falling_back_to_other_service(DictFiles(texts), service)
    if chains is None:
        return "nothing"
    ends = [compute_outcome(chains[kind], lambda rule, event=event: answer(rule, event)) for event in EVENTS[kind]]
    return next((end for end in ends if end != "success"), "success")


def stacks(random: Random) -> list[str] | None:
    texts = Maker(random).folder()
    said = theirs(texts, *SERVICES)
    if said is None and any(NAMELESS.search(text) for text in texts.values()):
        return None  # Debian's libpam takes the name for granted, and dies
    if said is None:
        return ["libpam did not answer: " + repr(texts)]
    return [
        f"{service} {kind}: we say {ours(texts, service, kind)}, libpam {code}: {texts}"
        for (service, kind), code in said.items()
        if ours(texts, service, kind) != code
    ]


STACK = """# Local and console logins.
auth required pam_env.so
auth required pam_faillock.so preauth silent deny=4
auth {unix} pam_unix.so nullok try_first_pass
auth [default=die] pam_faillock.so authfail deny=4
auth required {end}
account required pam_faillock.so
account required pam_unix.so
password requisite pam_pwquality.so retry=3 minlen=14
password sufficient pam_unix.so sha512 use_authtok
password required pam_deny.so
session required pam_unix.so
"""
NEW = (
    "auth required pam_faillock.so preauth",
    "auth required pam_faillock.so authfail",
    "auth requisite pam_faildelay.so delay=4000000",
    "account required pam_faillock.so",
    "password required pam_pwhistory.so remember=5 use_authtok",
    "\\ #",
    "\\",
    "auth required pam_deny.so",
    "auth sufficient pam_permit.so",
    "-auth required pam_unix.so",
    "# nothing",
    "",
)
WORDS = (
    "nullok",
    "deny=3",
    "deny=5",
    "sha512",
    "yescrypt",
    "minlen=15",
    "minlen=12",
    "\\",
    "\\ #",
    "# x",
    "even_deny_root",
)


def edits(random: Random) -> list[str] | None:
    """What the policy lets through lets nobody new in and shuts nobody out, by libpam's own word."""
    unix, end = random.choice(
        (("sufficient", "pam_deny.so"), ("[success=2 default=ignore]", "pam_permit.so"), ("required", "pam_permit.so"))
    )
    lines = STACK.format(unix=unix, end=end).split("\n")
    at = random.randrange(len(lines) - 1)
    new = list(lines)
    match random.choice(("add", "take", "change", "change", "move")):
        case "add":
            new.insert(at, random.choice(NEW))
        case "take":
            del new[at]
        case "move":
            new.insert(random.randrange(len(lines)), new.pop(at))
        case "change":
            words = new[at].split(" ")
            new[at] = " ".join(random.choice((words[:-1], [*words, random.choice(WORDS)], words[1:])))
    path = "/etc/pam.d/system-auth"
    around = {"/etc/pam.d/login": "".join(f"{kind} include system-auth\n" for kind in KINDS)}
    before, after = ({**around, path: "\n".join(text)} for text in (lines, new))
    action = WriteFile(path=path, content="\n".join(new))
    if policy.list_action_refusals([action], frozenset({path}), Linkless(before)):
        return None
    wrong = []
    for who, kind, rightful in people():
        was, now = (lets_in(texts, who, kind) for texts in (before, after))
        if was is not now and was is rightful:
            wrong.append(f"{who}: {kind} let in {was}, then {now}: {after}")
    return wrong


def people() -> list[tuple[str, str, bool]]:
    both = ((RIGHTFUL, True), (INTRUDERS, False))
    return [(who, kind, rightful) for table, rightful in both for kind, names in table.items() for who in names]


def lets_in(texts: dict[str, str], who: str, kind: str) -> bool:
    """The text as it stands, but for each module one that returns what that module would."""
    answer = create_module_responder(who, kind, unknown_modules_accept=True)

    def told(match: re.Match[str]) -> str:
        rule = PamRule(kind, "required", match[1], tuple(match[2].split()), "", 1)
        code = answer(rule)
        return " ".join(("pam_debug.so", *(f"{event}={code}" for event in EVENTS[kind]))) + match[2]

    said = theirs({path: re.sub(r"(pam_\w+\.so)([^#\\\n]*)", told, text) for path, text in texts.items()}, "login")
    assert said is not None
    return said["login", kind] == "success"


TRIALS = {"stacks": stacks, "edits": edits}


@pytest.mark.parametrize("trial", TRIALS)
def test_we_make_of_a_stack_what_libpam_makes_of_it(trial):
    found = tally(TRIALS[trial], examples(70))
    assert found.differences == ()
    assert found.refused < found.ran * (0.9 if trial == "edits" else 0.05)


def test_the_trials_are_of_every_kind():
    """Not all refused, nor all let in; and some that libpam will not even begin with."""
    found = [
        ours(Maker(Random(f"1.{n}")).folder(), service, kind)
        for n in range(200)
        for service in SERVICES
        for kind in KINDS
    ]
    assert 0.1 < found.count("success") / len(found) < 0.6
    assert len(set(found)) > 15
    assert "nothing" in found
