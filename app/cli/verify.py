"""`temper verify`: verify a run's log, the audit log, an evidence pack or a score."""

import json
from collections import Counter
from pathlib import Path

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.cli.score import verify_score
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RunFinished, RunStopped
from app.events.record import AUDIT, BrokenChain, check_chain, read
from app.evidence import verify as pack
from app.evidence.anchored import Anchored, anchored, check_end, check_row, check_seal
from app.evidence.bundled import check_bundle, is_bundle
from app.evidence.key import a_public_key
from app.evidence.notary import KEYS, signed_head
from app.evidence.remake import remake
from app.evidence.shrunk import agrees, kept
from app.evidence.stamp_check import check_stamp
from app.loop.state import RunState, fold
from app.scores.file import is_score
from app.store import queries
from app.store.anchors import end
from app.store.events import EventStore
from app.targets.catalog import open_target
from app.text.clean_line import clean_line

HOLDS, BROKEN = 0, 2


def verify_what(settings: Settings, wanted: str, head: str, key: str = "", authority: Path | None = None) -> int:
    """Verify `wanted`: `audit`, a score, a pack, a folder with an unpacked pack, or else a run."""
    key = a_public_key(key) if key else ""
    if wanted == AUDIT:
        return verify_audit(settings, head, key)
    path = Path(wanted)
    if is_score(path):
        return verify_score(path, key)
    if path.suffix == ".zip" or path.is_file() or (path / "manifest.json").is_file():
        return verify_pack(path, head, key, authority)
    if authority:
        raise BadInput("--ca is for a pack: the time stamp is in there.")
    return verify_run(settings, wanted, head, key)


def verify_pack(path: Path, head: str, key: str = "", authority: Path | None = None) -> int:
    try:
        files = pack.opened(path)
        if is_bundle(files):
            return _verify_bundle(path, files, head, key)
        manifest = pack.check(files, head, key)
        left = remake(files)
        stamped_by = check_stamp(files, authority) if authority else ""
    except OSError as exc:
        raise BadInput(f"{path} cannot be read: {exc.strerror}.") from exc
    except pack.BrokenPack as exc:
        return _broken(f"{path}: {exc}")
    run, count = manifest["run"], manifest["events"]
    _say(f"holds: {path}: run {run}, {count} events, {len(files)} files", f"chain head {manifest['chain_head']}")
    _say(f"manifest sha256 {pack.digest(files['manifest.json'])}", *pack.untold(manifest, head, key))
    _say(*pack.proved(files, manifest), *([stamped_by] if stamped_by else []))
    _say(left or "its papers are what this Temper makes of these events")
    return HOLDS


def _verify_bundle(path: Path, files: pack.Files, head: str, key: str) -> int:
    left: list[str] = []
    told = check_bundle(files, head, key, left.append)
    runs, events = len(told["runs"]), told["events"]
    _say(f"holds: {path}: rollout {told['rollout']}, {events} events; so does the pack of each run, {runs} in all")
    _say(f"chain head {told['chain_head']}", f"manifest sha256 {pack.digest(files['manifest.json'])}")
    _say(*pack.untold(told, head, key), *left)
    return HOLDS


def verify_audit(settings: Settings, head: str, key: str = "") -> int:
    database = existing_database(settings)
    store = EventStore(database)
    with Session(database) as session:
        counted = end(session, AUDIT)
    signed, rows = signed_head(settings.data / KEYS), store.lines(AUDIT)
    try:
        last, found = check_chain(rows, AUDIT), anchored(rows)
        check_end(rows, counted, signed, found)
        for run, seal in found.seals.items():
            check_seal(run, seal, {seq: digest for seq, _, digest in store.lines(run, after=seal.events - 1)})
    except BrokenChain as exc:
        return _broken(f"the record of what people did: {exc}")
    if head and head not in {digest for _, _, digest in rows}:
        return _broken(f"the record of what people did: its chain head is {last}, and {head} is none of its lines")
    if key and key not in found.keys:
        return _broken(f"the record of what people did: {key} is no key of it")
    _say(f"holds: the record of what people did, {len(rows)} lines", f"chain head {last}")
    if head and head != last:
        _say(f"{head} is that of an earlier line: the record has gone on since")
    if signed:
        _say(f"line {signed.seq} is signed by {signed.key}; it seals {len(found.seals)} runs")
    _say(*(f"the key {lost} took over without a word of the one before, which was lost" for lost in found.unvouched))
    return HOLDS


def verify_run(settings: Settings, wanted: str, head: str, key: str = "") -> int:
    database = existing_database(settings)
    run = find_run(database, wanted)
    with Session(database) as session:
        row = queries.run(session, run)
        session.expunge_all()
    rows = EventStore(database).lines(run)
    archive = _kept(database, run)
    try:
        found = _record(settings, database)
        last = _through(archive, rows, key, found.keys) if archive else check_chain(rows, run)
        log = [read(line, digest) for _, line, digest in rows]
        if row:
            check_row(row, log)
        seal = found.seals.get(run)
        check_seal(run, seal, {seq: digest for seq, _, digest in rows})
    except BrokenChain as exc:
        return _broken(f"run {run}: {exc}")
    if head not in ("", last):
        return _broken(f"run {run}: its chain head is {last}, not {head}")
    state = fold(log)
    counts = Counter(item.status for item in state.items.values())
    summary = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    _say(f"holds: run {run}, {len(rows)} events, {state.status}: {summary or 'no items'}", f"chain head {last}")
    _say(f"line {seal.line} of the record seals {seal.events} events" if seal else "no line of the record seals it")
    if archive:
        _say(f"it was shrunk to its evidence, which has all {state.seq} events and holds; the log's are the same")
    if tree := _tree(state):
        _say(_compare(settings, database, state, tree))
    return HOLDS


def _record(settings: Settings, database: Engine) -> Anchored:
    """Check the audit chain and return its anchors. Raise BrokenChain if it does not hold."""
    with Session(database) as session:
        counted = end(session, AUDIT)
    signed, record = signed_head(settings.data / KEYS), EventStore(database).lines(AUDIT)
    try:
        check_chain(record, AUDIT)
        found = anchored(record)
        check_end(record, counted, signed, found)
    except BrokenChain as exc:
        raise BrokenChain(f"the record that seals it does not hold: {exc}") from exc
    return found


def _kept(database: Engine, run: str) -> bytes | None:
    with Session(database) as session:
        row = queries.run(session, run)
        shrunk = row is not None and row.shrunk_at is not None
    return kept(database, run) if shrunk else None


def _through(archive: bytes, rows: list[tuple[int, bytes, str]], key: str, ours: list[str]) -> str:
    """Check the chain of a shrunk run through its evidence, since its log has gaps. Return the chain's head."""
    try:
        files = agrees(archive, rows)
        by = json.loads(files["manifest.json"]).get("key", "")
        head: str = pack.check(files, key=key or (by if by in ours else ""))["chain_head"]
    except pack.BrokenPack as exc:
        raise BrokenChain(str(exc)) from exc
    return head


def _say(*lines: str) -> None:
    for line in lines:
        Console().print(clean_line(line, 4000), highlight=False, soft_wrap=True, markup=False)


def _broken(why: str) -> int:
    _say(f"does not hold: {why}")
    return BROKEN


def _tree(state: RunState) -> str | None:
    return state.ended.tree if isinstance(state.ended, RunFinished | RunStopped) else None


def _compare(settings: Settings, database: Engine, state: RunState, tree: str) -> str:
    assert state.request
    host = state.request.host
    with Session(database) as session:
        newest = queries.newest_run(session, host)
    if newest is None or newest.id != state.run:
        return f"{host} has been worked on since"
    same = open_target(host, settings.hosts).digest() == tree
    return (
        f"{host} is as the run left it" if same else f"{host} is NOT as the run left it: its files have changed since"
    )
