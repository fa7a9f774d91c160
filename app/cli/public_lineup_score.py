"""`temper score --public` and `temper score check`: results that can be sent in, and what they prove."""

from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Engine

from app.cli.exit_codes import DONE, NOT_PINNED
from app.cli.output import print_line
from app.config import Settings
from app.errors import BadInput
from app.evidence.notary import open_notary
from app.lineups.model import Lineup
from app.scores.atif import build_trajectory
from app.scores.public_score import (
    SignedPublicScore,
    list_setup_facts,
    read_verified_public_score,
    sign_public_score_with_full_trajectories,
)
from app.scores.score_structures import Score
from app.scores.signed_score_file import BrokenScore
from app.store.events import EventStore
from app.text.clean import clean_text

DOES_NOT_HOLD = 2
PROVES = Path(__file__).with_suffix(".txt").read_text().rstrip()


def write_submission(
    settings: Settings, database: Engine, score: Score, lineup: Lineup, file: Path, quantization: str
) -> None:
    """Sign and write a result that can be sent in. No address of an engine is in it."""
    store, notary = EventStore(database), open_notary(settings.data, database)
    runs = [trial.run for trial in score.trials if trial.run]
    trajectories = [build_trajectory(store.read_events(run)) for run in runs]
    hidden = {urlsplit(url).netloc for engine in lineup.engines.values() for url in engine.base_urls}
    facts = list_setup_facts(lineup, score.machine, quantization)
    try:
        file.write_bytes(sign_public_score_with_full_trajectories(score, facts, trajectories, hidden, notary.key))
    except OSError as exc:
        raise BadInput(f"cannot write {exc.filename}: {exc.strerror}. Choose another path.") from exc
    print_line(f"Written: {file}. Look at it, then check it with `temper score check {file}`.", to_stderr=True)


def check_score(path: Path, key: str) -> int:
    """Print what a public score proves and what it does not. Return 0, 2 if it does not hold, 3 without a key."""
    try:
        found = read_verified_public_score(path, key)
    except BrokenScore as exc:
        print_line(f"does not hold: {path}: {clean_text(str(exc), 500)}", to_stderr=True)
        return DOES_NOT_HOLD
    _print_score_contents(path, found)
    return DONE if key else NOT_PINNED


def _print_score_contents(path: Path, signed_score: SignedPublicScore) -> None:
    score, summary = signed_score.body.score, signed_score.body.summary
    played = ", SIMULATED engines" if score.simulated else ""
    print_line(f"holds: {path}: {len(score.trials)} trials of {clean_text(score.order.label, 80)}{played}")
    print_line(
        f"fixed {summary.fixed} of {summary.findings} findings; hosts on which harm stayed: {summary.harm_stayed}"
    )
    for fact in signed_score.body.facts:
        print_line(clean_text(f"  {fact.name}: {fact.value or '—'} ({fact.provenance})", 400))
    print_line(PROVES.format(key=signed_score.key, prompts=clean_text(signed_score.body.prompts.version, 40)))
