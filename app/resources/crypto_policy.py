"""The system-wide crypto policy, set by its own tool: only to one that is known to be stricter."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from app.resources import kind

_CONFIG = "/etc/crypto-policies/config"
_NAMED = re.compile(r"\bupdate-crypto-policies --set ([A-Z0-9]+(?::[A-Z0-9_-]+)*)")
_STRICTER = {"LEGACY": {"DEFAULT", "FUTURE", "FIPS"}, "DEFAULT": {"FUTURE", "FIPS"}}
"""The policies that may replace one. FIPS and FUTURE do not compare: each forbids something that the other allows."""
_TAKE_AWAY = {"NO-SHA1", "NO-CAMELLIA", "NO-PSK", "ECDHE-ONLY", "OSPP"}
"""Subpolicies that only forbid."""


class SetCryptoPolicy(kind.ResourceAction, frozen=True, tag="set_crypto_policy"):
    """Set the crypto policy of the whole system, with its subpolicies after colons."""

    policy: Annotated[str, Meta(max_length=80, pattern="^[A-Z0-9]+(?::[A-Z0-9_-]+)*$")]


def find_candidates(rule: kind.RuleTexts) -> Iterator[SetCryptoPolicy]:
    return (SetCryptoPolicy(policy=policy) for policy in dict.fromkeys(_NAMED.findall(rule.text)))


def judge_policies(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    ours = foreseen.iterate_names_and_states("crypto_policy")
    return next((found for _, one in ours if (found := _judge_policy(one.before, one.after))), None)


def _judge_policy(before: str, after: str) -> kind.Objection | None:
    (was, *had), (now, *has) = before.split(":"), after.split(":")
    if now != was and now not in _STRICTER.get(was, ()):
        return kind.Objection("weakening", f"The crypto policy is {before}, and {after} is not known to be stricter.")
    if loose := [one for one in has if one not in {*had, *_TAKE_AWAY}]:
        return kind.Objection("weakening", f"The subpolicy {loose[0]} is not among those that only forbid.")
    if lost := [one for one in had if one in _TAKE_AWAY and one not in has]:
        return kind.Objection("weakening", f"The crypto policy would lose its subpolicy {lost[0]}.")
    return None


def _build_commands(action: SetCryptoPolicy, _: Sequence[str]) -> tuple[kind.ShellCommands]:
    policy = shlex.quote(action.policy)
    look = f'[ "$(update-crypto-policies --show)" = {policy} ]'
    return (kind.ShellCommands(look, f"update-crypto-policies --set {policy}", "update-crypto-policies", (_CONFIG,)),)


KIND = kind.ResourceKind(
    name="crypto_policy",
    actions=(SetCryptoPolicy,),
    find_candidates=find_candidates,
    is_possible=lambda action, host: bool(host.text) and host.text != action.policy,
    list_words=lambda _: (),
    judge_states=judge_policies,
    build_commands=_build_commands,
    hazard="remote login",
    services=("sshd",),
)
