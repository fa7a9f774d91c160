"""PAM: whom each service lets in, and how strict its modules are."""

import re
from collections.abc import Iterator, Mapping

from app.syntax import host_text, pam
from app.syntax.host_files_protocol import Files
from app.syntax.pam import FOLDER, KINDS, PamRule
from app.targets.effects import effective_pam_options
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.pam_module_answers import INTRUDERS, RIGHTFUL, create_module_responder
from app.targets.effects.strictness_comparison import Strength
from app.targets.new_password_refusal_prediction import predict_password_change_refusal
from app.targets.pam_outcome import SUCCESS, compute_outcome

_IN, _OUT = "let in", "refused"
_ASKED, _NONE = "is asked", "none"
_OUTCOME = re.compile(r"[^ ]+ (?:auth|account|password|session) for (?P<who>.*)")
_OPTION = re.compile(r"[^ ]+ (?:auth|account|password|session): (?P<module>[^ ]+).*: (?P<option>[^:]*)")
_MAY_COME = ("pam_faillock.so", "pam_pwquality.so", "pam_pwhistory.so", "pam_lastlog.so", "pam_faildelay.so")
"""Modules that can only refuse; adding any other module is not comparable."""
_MAY_COME_TO_SU = (("pam_wheel.so", "su"), ("pam_wheel.so", "su-l"))
"""For a login it would be a lockout."""


class Pam(Daemon):
    """Not asked: libpam would load the host's modules; tests/differential compares with it."""

    name = "pam"
    areas = ("/etc/pam.d/", "/etc/security/faillock.conf", "/etc/security/pwquality.conf")

    def read_settings(self, files: Files) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in host_text.glob_paths_like_shell(files, f"{FOLDER}/*"):
            service = path.rpartition("/")[2]
            chains = pam.find_chains_falling_back_to_other_service(files, service)
            for kind in KINDS:
                chain = None if chains is None else chains[kind]
                found |= _evaluate_outcomes(f"{service} {kind}", chain, kind)
                found |= dict(_iterate_option_values_by_setting(f"{service} {kind}", chain or (), files))
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        found = _OUTCOME.fullmatch(key)
        if found:
            return _compare_rightful_or_intruder_outcomes(found["who"], was, now)
        option = _OPTION.fullmatch(key)
        if option is None or UNSET in (was, now):
            service = key.partition(" ")[0]
            return _judge_added_or_removed_rule(option["module"] if option else "", was, service)
        old, new = (UNSET if value == _NONE else value for value in (was, now))
        return effective_pam_options.compare_options(option["module"], option["option"], old, new)


def _evaluate_outcomes(label: str, chain: tuple[PamRule, ...] | None, kind: str) -> Mapping[str, str]:
    found = {}
    for who in (*RIGHTFUL[kind], *INTRUDERS[kind]):
        for otherwise, words in ((True, ""), (False, ", should every other module refuse")):
            is_in = _is_admitted(chain, who, kind, accepts_unknown=otherwise)
            found[f"{label} for {who}{words}"] = _IN if is_in else _OUT
    return found


def _is_admitted(chain: tuple[PamRule, ...] | None, user_case: str, kind: str, *, accepts_unknown: bool) -> bool:
    if kind == "password" and user_case in RIGHTFUL[kind]:
        return not predict_password_change_refusal(chain, unknown_modules_succeed=accepts_unknown)
    answer = create_module_responder(user_case, kind, unknown_modules_accept=accepts_unknown)
    return chain is not None and compute_outcome(chain, answer) == SUCCESS


def _compare_rightful_or_intruder_outcomes(user_case: str, was: str, now: str) -> Strength:
    """Compare outcomes: no intruder may get in, no rightful user may be shut out."""
    rightful = any(user_case.startswith(name) for names in RIGHTFUL.values() for name in names)
    if UNSET in (was, now):
        # A service was added or removed; an added one may only refuse.
        came_open = now == _IN and not rightful
        return Strength.INCOMPARABLE if came_open or was == _IN else Strength.STRONGER
    if rightful:
        return Strength.STRONGER if now == _IN else Strength.INCOMPARABLE
    return Strength.STRONGER if now == _OUT else Strength.WEAKER


def _iterate_option_values_by_setting(
    label: str, chain: tuple[PamRule, ...], files: Files
) -> Iterator[tuple[str, str]]:
    met: dict[str, int] = {}
    for rule in chain:
        if rule.broken or rule.opens_substack:
            continue
        parts = " ".join(word for word in effective_pam_options.PARTS if word in rule.arguments)
        name = f"{rule.module} {parts}".strip()
        met[name] = met.get(name, 0) + 1
        named = f"{label}: {name}" + (f" ({met[name]})" if met[name] > 1 else "")
        yield f"{named}: {_ASKED}", "yes"
        for option, value in effective_pam_options.read_rule_options(rule, files).items():
            yield f"{named}: {option}", value or _NONE


def _judge_added_or_removed_rule(module: str, was: str, service: str) -> Strength:
    if was != UNSET:
        return Strength.WEAKER
    is_refusal = module in _MAY_COME or (module, service) in _MAY_COME_TO_SU
    return Strength.STRONGER if is_refusal else Strength.INCOMPARABLE
