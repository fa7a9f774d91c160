"""What libpam itself makes of generated stacks, against what we make of them."""

import re
import tempfile
from pathlib import Path
from random import Random

import pytest

from app.syntax import pam
from app.syntax.pam import KINDS, PamRule
from app.syntax.pam_text import CODES
from app.targets.confine import detect
from app.targets.stack import outcome
from tests.differential import dispatch
from tests.differential.harness import tally
from tests.differential.stacks import Maker
from tests.hostfiles import DictFiles

WALL = detect()
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
    chains = pam.chains(DictFiles(texts), service)
    if chains is None:
        return "nothing"
    ends = [outcome(chains[kind], lambda rule, event=event: answer(rule, event)) for event in EVENTS[kind]]
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


TRIALS = {"stacks": stacks}


@pytest.mark.parametrize("trial", TRIALS)
def test_we_make_of_a_stack_what_libpam_makes_of_it(trial):
    found = tally(TRIALS[trial], 200)
    assert found.differences == ()
    assert found.refused < 10


def test_the_trials_are_of_every_kind():
    """Not all refused, nor all let in; and some that libpam will not even begin with."""
    found = [
        ours(Maker(Random(f"1.{n}")).folder(), service, kind)
        for n in range(200)
        for service in SERVICES
        for kind in KINDS
    ]
    assert 0.15 < found.count("success") / len(found) < 0.6
    assert len(set(found)) > 15
    assert "nothing" in found
