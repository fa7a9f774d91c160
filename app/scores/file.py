"""Read, write and verify signed score files, and score packs that also contain the evidence of each run."""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.record import read
from app.evidence import verify
from app.evidence.key import Signer, holds
from app.scores.fold import told
from app.scores.result import FORMAT, Fate, Score, Signed, Trial
from app.skills.catalog import skill

_SEALED = b"temper score\n"
"""Prefix of the signed bytes, so that the signature is valid for nothing else."""
RESULT, _RUNS = "score.json", "runs/"
_MOST = 512 * 1024 * 1024


class BrokenScore(Exception):
    """The first failed verification, as one sentence."""


def signed(score: Score, signer: Signer) -> bytes:
    made = Signed(score=score, key=signer.public, signature=signer.sign(_told(score)))
    return msgspec.json.encode(made) + b"\n"


def read_result(content: bytes) -> Signed:
    """Decode a result and verify its signature. Raise BrokenScore if it is invalid."""
    try:
        found = msgspec.json.decode(content, type=Signed)
    except msgspec.DecodeError as exc:
        raise BrokenScore(f"it is not of the shape that temper score writes: {exc}") from exc
    if found.format != FORMAT:
        raise BrokenScore(f"the format {found.format[:60]!a} is not known here: take a newer Temper")
    if not holds(found.key, found.signature, _told(found.score)):
        raise BrokenScore("the score is not what was signed")
    return found


def read_file(path: Path) -> Signed:
    try:
        return read_result(path.read_bytes())
    except OSError as exc:
        raise BadInput(f"{path} cannot be read: {exc.strerror}.") from exc
    except BrokenScore as exc:
        raise BadInput(f"{path}: {exc}.") from exc


def _told(score: Score) -> bytes:
    return _SEALED + hashlib.sha256(msgspec.json.encode(score)).hexdigest().encode()


def pack(into: Path, result: bytes, runs: Iterable[str], pack_of: Callable[[str], bytes]) -> None:
    """Write a reproducible score pack, with one run's evidence in memory at a time."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(RESULT), result, zipfile.ZIP_DEFLATED)
        for run in sorted(runs):
            archive.writestr(zipfile.ZipInfo(f"{_RUNS}{run}.zip"), pack_of(run), zipfile.ZIP_DEFLATED)


def is_score(path: Path) -> bool:
    if path.suffix == ".json" and path.is_file():
        with path.open("rb") as file:
            return FORMAT.encode() in file.read(200)
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return RESULT in archive.namelist()


def check(path: Path, key: str = "") -> tuple[Signed, int]:
    """Verify a score file or pack. Return the score and the number of verified runs; raise BrokenScore if invalid."""
    if path.suffix == ".json":
        found, looked = read_result(path.read_bytes()), 0
    else:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST:
                raise BrokenScore("it is larger than any score of Temper's")
            found = read_result(archive.read(RESULT))
            looked = _check_runs(found, archive)
    if key and key != found.key:
        raise BrokenScore(f"it is signed by the key {found.key}, and not by the one that you gave")
    return found, looked


def _check_runs(found: Signed, archive: zipfile.ZipFile) -> int:
    """Verify that each run's evidence is valid, signed by the same key and consistent with the score."""
    trials = {trial.run: trial for trial in found.score.trials if trial.run}
    names = {name.removeprefix(_RUNS).removesuffix(".zip") for name in archive.namelist() if name.startswith(_RUNS)}
    if odd := sorted(names ^ trials.keys()):
        raise BrokenScore(f"run {odd[0]} is in the {'pack' if odd[0] in names else 'score'} alone")
    for run, trial in trials.items():
        try:
            files = verify.unpack(archive.read(f"{_RUNS}{run}.zip"))
            verify.check(files, trial.head, found.key)
            _compare(trial, files, found.score)
        except verify.BrokenPack as exc:
            raise BrokenScore(f"run {run}: {exc}") from exc
    return len(trials)


def _compare(trial: Trial, files: Mapping[str, bytes], score: Score) -> None:
    """Compare a trial with its log, except results observed on the host: second checks and harm."""
    lines = files["events.jsonl"].splitlines()
    hashes = files["chain.txt"].decode().split()
    log = told((read(line, digest) for line, digest in zip(lines, hashes, strict=True)), skill(score.order.skill))
    if log.fates != tuple(_of_the_log(trial.fates)) or log.left != trial.left or log.broken != trial.broken:
        raise BrokenScore(f"run {trial.run}: the score does not say of it what its events say")


def _of_the_log(fates: tuple[Fate, ...]) -> Iterator[Fate]:
    return (msgspec.structs.replace(fate, met=None) for fate in fates)
