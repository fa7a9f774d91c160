"""Probes whether passwords can be changed, by our reading of the PAM stacks. A real host tries it on a copy."""

from collections.abc import Mapping
from typing import NamedTuple

from app.syntax import pam
from app.targets.new_password_refusal_prediction import COMMON, predict_password_change_refusal
from app.targets.questions.probe_answer import ProbeAnswer, ProbedHost


class PasswordStep(NamedTuple):
    """What a person does with a password."""

    done: str
    failed: str


STEPS: Mapping[str, PasswordStep] = {
    "root": PasswordStep("root sets a password", "root cannot set a password"),
    "owner": PasswordStep("its owner changes it", "its owner cannot change a password"),
    "aged": PasswordStep("an expired one is changed at the next login", "an expired password cannot be changed"),
}
_SERVICES = (("passwd", "root"), ("chpasswd", "root"), ("passwd", "owner"), ("login", "aged"), ("sshd", "aged"))
_TOO_SHORT = "a password of four characters"


def probe_password_change(host: ProbedHost) -> ProbeAnswer:
    there = {name for name in (*COMMON, *dict(_SERVICES)) if host.files.state(f"{pam.FOLDER}/{name}") is not None}
    common = next((name for name in COMMON if name in there), None)
    if common is None:
        return ProbeAnswer(True, "not asked: there is no common stack for passwords", asked=False)
    for service, step in _SERVICES:
        name = service if service in there else common
        if reason := predict_password_change_refusal(_find_password_rules(host, name)):
            return ProbeAnswer(False, f"simulated: {STEPS[step].failed}: {reason}")
    refused = predict_password_change_refusal(_find_password_rules(host, common), password_is_short=True)
    answer = build_success_answer_weak_if_short_accepted(is_short_password_refused=bool(refused))
    return answer._replace(detail=f"simulated: {answer.detail}")


def build_success_answer_weak_if_short_accepted(*, is_short_password_refused: bool) -> ProbeAnswer:
    """Return the answer where every step succeeded; it is weak unless a short password was refused."""
    done = [step.done for step in STEPS.values()]
    done.append(f"{_TOO_SHORT} is {'refused' if is_short_password_refused else 'accepted'}")
    return ProbeAnswer(True, "; ".join(done), weak=() if is_short_password_refused else (f"{_TOO_SHORT} is accepted",))


def _find_password_rules(host: ProbedHost, service: str) -> tuple[pam.PamRule, ...] | None:
    chains = pam.find_chains_falling_back_to_other_service(host.files, service)
    return None if chains is None else chains["password"]
