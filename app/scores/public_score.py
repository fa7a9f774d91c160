"""A result that can be sent in: the score, what is known of model and machine, and each trial's trajectory, signed."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from app.engines.model_size_from_name import find_quantisation
from app.errors import BadInput
from app.evidence.signing_key import Signer, is_valid_signature
from app.lineups.model import Engine, Lineup
from app.loop import prompts
from app.scores.score_figures import build_score_row
from app.scores.score_structures import Score, Trial
from app.scores.signed_score_file import BrokenScore, read_verified_result_file
from app.text.clean import clean_text

FORMAT = "temper public score 1"
MOST_BYTES = 256 * 1024 * 1024
_SEALED = b"temper public score\n"
"""Prefix of the signed bytes, so that the signature is valid for nothing else."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
Provenance = Literal["stated by the server", "stated in the line-up", "guessed from the name", "measured", "unknown"]
Json = dict[str, Any]


class ScoreFact(Struct, frozen=True):
    """One thing that is known of model, server or machine, and from where."""

    name: str
    value: str
    provenance: Provenance


class PromptsUsed(Struct, frozen=True):
    version: str
    digest: str


class ScoreSummary(Struct, frozen=True, kw_only=True):
    findings: int
    passes: int
    fixed: int
    harmed_and_undone: int
    harm_stayed: int
    gamed: int
    refused: int
    turns: int
    tokens: int


class PublicScore(Struct, frozen=True, kw_only=True):
    score: Score
    summary: ScoreSummary
    facts: tuple[ScoreFact, ...]
    prompts: PromptsUsed
    trajectories: tuple[Json, ...]
    """One ATIF document per run, in the order of the trials."""


class SignedPublicScore(Struct, frozen=True, kw_only=True):
    format: str
    body: PublicScore
    key: str
    signature: str


def compute_prompts_digest() -> str:
    """Return the digest of what every prompt of this Temper is built from."""
    return hashlib.sha256(json.dumps(prompts.list_fixed_texts(), ensure_ascii=True).encode()).hexdigest()


@cache
def load_prompt_digests_by_version() -> Mapping[str, str]:
    """Return digests of prompts by version: those of earlier Tempers, and of this one."""
    listed = msgspec.toml.decode(Path(__file__).with_name("known_prompts.toml").read_bytes(), type=dict[str, str])
    return listed | {prompts.VERSION: compute_prompts_digest()}


def summarize_score(score: Score) -> ScoreSummary:
    row, fates = build_score_row(score), [fate for trial in score.trials for fate in trial.fates]
    return ScoreSummary(
        findings=row.findings,
        passes=row.passes,
        fixed=row.fixed.count,
        harmed_and_undone=row.harmed_and_undone,
        harm_stayed=row.harm_stayed.count,
        gamed=row.gamed.count,
        refused=row.refused,
        turns=sum(fate.turns for fate in fates),
        tokens=sum(fate.tokens for fate in fates),
    )


def list_setup_facts(lineup: Lineup, machine: str, stated_quantisation: str = "") -> tuple[ScoreFact, ...]:
    """Return what is known of each engine and of the machines. No address is in it."""
    facts = [
        fact
        for engine in lineup.engines.values()
        for fact in _iterate_engine_facts(engine, lineup, stated_quantisation)
    ]
    return (*facts, ScoreFact("processor where Temper ran", machine, "measured"))


def _iterate_engine_facts(engine: Engine, lineup: Lineup, stated_quantisation: str) -> Iterable[ScoreFact]:
    stated: Provenance = "stated by the server" if engine.is_endpoint else "stated in the line-up"
    yield ScoreFact(f"{engine.name}: model", clean_text(engine.model, 300), stated)
    yield ScoreFact(f"{engine.name}: server", clean_text(engine.program or engine.program_name, 80), stated)
    yield ScoreFact(f"{engine.name}: context", str(engine.max_model_len), stated)
    yield _create_quantisation_fact(engine, stated_quantisation)
    gpus = [gpu.kind for gpu in lineup.gpus if gpu.index in engine.gpus]
    if gpus:
        yield ScoreFact(f"{engine.name}: GPUs", clean_text(", ".join(gpus), 200), "stated in the line-up")
    elif engine.is_endpoint and urlsplit(engine.base_urls[0]).hostname not in _LOOPBACK:
        yield ScoreFact(f"{engine.name}: hardware", "another machine", "unknown")
    else:
        yield ScoreFact(
            f"{engine.name}: hardware", "the machine where Temper ran; its GPUs, if any, unknown", "unknown"
        )


def _create_quantisation_fact(engine: Engine, quantisation_from_server: str) -> ScoreFact:
    name = f"{engine.name}: quantisation"
    if quantisation_from_server:
        return ScoreFact(name, clean_text(quantisation_from_server, 40), "stated by the server")
    if not engine.is_endpoint:
        return ScoreFact(name, engine.precision, "stated in the line-up")
    found = find_quantisation(engine.model)
    return ScoreFact(name, found, "guessed from the name" if found else "unknown")


def sign_public_score_with_full_trajectories(
    score: Score,
    facts: Sequence[ScoreFact],
    trajectory_documents: Iterable[bytes],
    texts_to_hide: Iterable[str],
    signer: Signer,
) -> bytes:
    """Return the signed file. Texts in `texts_to_hide`, such as addresses, are replaced in the trajectories."""
    body = PublicScore(
        score=score,
        summary=summarize_score(score),
        facts=tuple(facts),
        prompts=PromptsUsed(prompts.VERSION, compute_prompts_digest()),
        trajectories=tuple(_hide_texts(one, texts_to_hide) for one in trajectory_documents),
    )
    signature = signer.sign(_build_signed_bytes(body))
    return msgspec.json.encode(SignedPublicScore(format=FORMAT, body=body, key=signer.public, signature=signature))


def _hide_texts(trajectory: bytes, texts_to_hide: Iterable[str]) -> Json:
    for text in texts_to_hide:
        trajectory = trajectory.replace(text.encode(), b"MODEL-SERVER")
    return msgspec.json.decode(trajectory, type=Json)


def _build_signed_bytes(body: PublicScore) -> bytes:
    return _SEALED + hashlib.sha256(msgspec.json.encode(body)).hexdigest().encode()


def is_public_score(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(200)


def decode_unverified_public_score(path: Path) -> SignedPublicScore:
    """Decode a file. Raise BadInput if it cannot be read, and BrokenScore if it has another shape."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BrokenScore(f"it is larger than {MOST_BYTES // 1024**2} MiB")
        found = msgspec.json.decode(path.read_bytes(), type=SignedPublicScore)
    except OSError as exc:
        raise BadInput(f"{path} cannot be read: {exc.strerror}.") from exc
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BrokenScore(f"it is not of the shape that temper score --public writes: {exc}") from exc
    if found.format != FORMAT:
        raise BrokenScore(f"the format {found.format[:60]!a} is not known here: take a newer Temper")
    return found


def read_verified_public_score(path: Path, expected_key: str = "") -> SignedPublicScore:
    """Return the file if signature, summary, trajectories and prompts hold; else raise BrokenScore with the first."""
    found = decode_unverified_public_score(path)
    body = found.body
    if not is_valid_signature(found.key, found.signature, _build_signed_bytes(body)):
        raise BrokenScore("it is not what was signed: something was changed after the signature")
    if expected_key and expected_key != found.key:
        raise BrokenScore(f"it is signed by the key {found.key}, and not by the one that you gave")
    if body.summary != summarize_score(body.score):
        raise BrokenScore("the summary does not follow from the trials")
    if load_prompt_digests_by_version().get(body.prompts.version) != body.prompts.digest:
        raise BrokenScore(
            f"the prompts of version {body.prompts.version[:40]!a} are not known here: take a newer Temper"
        )
    played = [trial for trial in body.score.trials if trial.run]
    if [trial.run for trial in played] != [one.get("session_id") for one in body.trajectories]:
        raise BrokenScore("the trajectories are not those of the trials")
    for trial, trajectory in zip(played, body.trajectories, strict=True):
        _require_matching_trajectory(trial, trajectory, body.prompts.version)
    return found


def _require_matching_trajectory(trial: Trial, trajectory: Json, version: str) -> None:
    """Compare a trial's turns, tokens and passes with its trajectory. Raise BrokenScore if one differs."""
    try:
        asked = [step for step in trajectory["steps"] if step["source"] == "user" and "turn" in step.get("extra", {})]
        answered = [step for step in trajectory["steps"] if step["source"] == "agent"]
        tokens = sum(step["metrics"]["completion_tokens"] for step in answered)
        passed = trajectory["final_metrics"]["extra"].get("passed")
        versions = {step["extra"]["prompts"] for step in asked}
    except (KeyError, TypeError, AttributeError) as exc:
        raise BrokenScore(f"the trajectory of run {trial.run} has not the shape of one") from exc
    expected = {
        "turns": (len(asked), sum(fate.turns for fate in trial.fates)),
        "tokens": (tokens, sum(fate.tokens for fate in trial.fates)),
        "passed": (passed, passed if trial.broken else sum(fate.ended == "passed" for fate in trial.fates)),
    }
    for name, (there, here) in expected.items():
        if there != here:
            raise BrokenScore(f"run {trial.run}: {name} in the trajectory: {there}, in the trial: {here}")
    if versions - {version}:
        raise BrokenScore(f"run {trial.run} was played with other prompts than the file says")


def read_verified_full_or_public_score(path: Path) -> Score:
    """Return the score of a result file, or of a public score that holds. Raise BadInput if it does not."""
    if not is_public_score(path):
        return read_verified_result_file(path).score
    try:
        return read_verified_public_score(path).body.score
    except BrokenScore as exc:
        raise BadInput(f"{path}: {exc}.") from exc
