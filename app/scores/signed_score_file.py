"""Read, write and verify signed score files, and score packs that also contain the evidence of each run."""

import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.record import parse_line
from app.evidence import verify
from app.evidence.signing_key import Signer, is_valid_signature
from app.scores.run_summary import summarize_run
from app.scores.score_structures import FORMAT, Score, SignedScore, Trial
from app.skills.catalog import load_skill

_SEALED = b"temper score\n"
"""Prefix of the signed bytes, so that the signature is valid for nothing else."""
RESULT, _RUNS = "score.json", "runs/"
_MOST = 512 * 1024 * 1024
_SHAPE_ERRORS = (*verify.SHAPE_ERRORS, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
"""A damaged or foreign file, or an archive that is encrypted or packed in another way."""


class BrokenScore(Exception):
    """The first failed verification, as one sentence."""


def sign_score(score: Score, signer: Signer) -> bytes:
    made = SignedScore(score=score, key=signer.public, signature=signer.sign(_build_signed_bytes(score)))
    return msgspec.json.encode(made) + b"\n"


def decode_verified_result(content: bytes) -> SignedScore:
    """Decode a result and verify its signature. Raise BrokenScore if it is invalid."""
    try:
        found = msgspec.json.decode(content, type=SignedScore)
    except (ValueError, RecursionError) as exc:
        raise BrokenScore(f"it is not of the shape that temper score writes: {exc}") from exc
    if found.format != FORMAT:
        raise BrokenScore(f"the format {found.format[:60]!a} is not known here: take a newer Temper")
    if not is_valid_signature(found.key, found.signature, _build_signed_bytes(found.score)):
        raise BrokenScore("the score is not what was signed")
    return found


def read_verified_result_file(path: Path) -> SignedScore:
    try:
        return decode_verified_result(path.read_bytes())
    except OSError as exc:
        raise BadInput(f"{path} cannot be read: {exc.strerror}.") from exc
    except BrokenScore as exc:
        raise BadInput(f"{path}: {exc}.") from exc


def _build_signed_bytes(score: Score) -> bytes:
    return _SEALED + hashlib.sha256(msgspec.json.encode(score)).hexdigest().encode()


def write_score_pack(into: Path, result: bytes, runs: Iterable[str], read_run_pack: Callable[[str], bytes]) -> None:
    """Write a reproducible score pack, with one run's evidence in memory at a time."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(RESULT), result, zipfile.ZIP_DEFLATED)
        for run in sorted(runs):
            archive.writestr(zipfile.ZipInfo(f"{_RUNS}{run}.zip"), read_run_pack(run), zipfile.ZIP_DEFLATED)


def is_score_file(path: Path) -> bool:
    """Return True if the file has the mark of a score; False also if it cannot be read."""
    try:
        if path.suffix == ".json":
            with path.open("rb") as file:
                return FORMAT.encode() in file.read(200)
        with zipfile.ZipFile(path) as archive:
            return RESULT in archive.namelist()
    except (OSError, *_SHAPE_ERRORS):
        return False


def read_verified_score_and_verified_run_count(path: Path, expected_key: str = "") -> tuple[SignedScore, int]:
    """Verify a score file or pack. Return the score and the number of verified runs; raise BrokenScore if invalid."""
    try:
        if path.suffix == ".json":
            found, looked = decode_verified_result(path.read_bytes()), 0
        else:
            with zipfile.ZipFile(path) as archive:
                if sum(one.file_size for one in archive.infolist()) > _MOST:
                    raise BrokenScore("it is larger than any score of Temper's")
                found = decode_verified_result(archive.read(RESULT))
                looked = _verify_and_count_run_packs(found, archive)
    except OSError as exc:
        raise BadInput(f"cannot read {path}: {exc.strerror or exc}.") from exc
    except _SHAPE_ERRORS as exc:
        raise BrokenScore(f"it is not of the shape that temper score writes: {exc}") from exc
    if expected_key and expected_key != found.key:
        raise BrokenScore(f"it is signed by the key {found.key}, and not by the one that you gave")
    return found, looked


def _verify_and_count_run_packs(signed_score: SignedScore, archive: zipfile.ZipFile) -> int:
    """Verify that each run's evidence is valid, signed by the same key and consistent with the score."""
    trials = {trial.run: trial for trial in signed_score.score.trials if trial.run}
    names = {name.removeprefix(_RUNS).removesuffix(".zip") for name in archive.namelist() if name.startswith(_RUNS)}
    if odd := sorted(names ^ trials.keys()):
        raise BrokenScore(f"run {odd[0]} is in the {'pack' if odd[0] in names else 'score'} alone")
    for run, trial in trials.items():
        try:
            files = verify.unpack_zip_packed_by_temper(archive.read(f"{_RUNS}{run}.zip"))
            verify.check_pack_and_get_manifest(files, trial.head, signed_score.key)
            _require_trial_matches_log(trial, files, signed_score.score)
        except verify.BrokenPack as exc:
            raise BrokenScore(f"run {run}: {exc}") from exc
    return len(trials)


def _require_trial_matches_log(trial: Trial, files: Mapping[str, bytes], score: Score) -> None:
    """Compare a trial with its log, except results observed on the host: second checks and harm."""
    lines = files["events.jsonl"].splitlines()
    hashes = files["chain.txt"].decode().split()
    log = summarize_run(
        (parse_line(line, digest) for line, digest in zip(lines, hashes, strict=True)), load_skill(score.order.skill)
    )
    fates = tuple(msgspec.structs.replace(fate, met=None) for fate in trial.fates)
    if log.fates != fates or log.left != trial.left or log.broken != trial.broken:
        raise BrokenScore(f"run {trial.run}: the score does not say of it what its events say")
