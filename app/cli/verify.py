"""`temper verify`: verify a run's log, the audit log, an evidence pack or a score."""

import json
import re
from collections import Counter
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.database_access import open_existing_database, resolve_run_id
from app.cli.exit_codes import DONE, NOT_ALL, NOT_PINNED
from app.cli.lineup_score import verify_score
from app.cli.output import print_line
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RunFinished, RunStopped
from app.events.record import AUDIT, BrokenChain, check_chain_and_get_head, parse_line
from app.evidence import verify as pack
from app.evidence.log_checks_against_audit_seals import (
    AuditAnchors,
    check_audit_log_end,
    check_run_row,
    check_run_seal,
    read_anchors_from_already_verified_rows,
)
from app.evidence.notary import KEYS, SignedHead, find_signed_head
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.rollout_bundle_check import check_bundle, is_bundle
from app.evidence.run_shrinking import check_pack_against_shrunk_log, find_kept_pack
from app.evidence.signed_log_in_html_file import (
    check_shared_file_and_get_manifest,
    count_leading_events_vouched_for_by_sender_only,
)
from app.evidence.signing_key import read_public_key
from app.evidence.time_stamping import check_and_describe_stamp
from app.loop.state import RunState, fold_events
from app.scores.signed_score_file import is_score_file
from app.store import run_queries
from app.store.audit import read_recorded_audit_chain_end
from app.store.events import EventStore
from app.targets.host_registry import open_target
from app.text.clean import clean_line

HOLDS, BROKEN = DONE, NOT_ALL


class UnusableOption(BadInput):
    """An option is incomplete, or does not apply to what is verified."""


def verify_by_kind(
    settings: Settings, wanted: str, head: str | None, key: str | None = None, authority: Path | None = None
) -> int:
    """Verify `wanted`: `audit`, a score, a shared file, a pack, a folder with an unpacked pack, or else a run.

    Raise UnusableOption for an option that is not understood: what is verified must not seem pinned by it."""
    head, key = _normalize_optional_chain_head(head), _parse_optional_key(key)
    path = Path(wanted)
    if wanted != AUDIT and is_score_file(path):
        _require_options_not_given(head=head, ca=authority)
        return verify_score(path, key)
    if wanted != AUDIT and path.suffix == ".html" and path.is_file():
        _require_options_not_given(ca=authority)
        return verify_shared_file(path, head, key)
    if wanted != AUDIT and (path.suffix == ".zip" or path.is_file() or (path / "manifest.json").is_file()):
        return verify_pack(path, head, key, authority)
    _require_options_not_given(ca=authority)
    return verify_audit(settings, head, key) if wanted == AUDIT else verify_run(settings, wanted, head, key)


def _normalize_optional_chain_head(head: str | None) -> str:
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head := head.lower()):
        raise UnusableOption(f"--head takes the 64 hexadecimal digits of a chain head, and {head[:80]!a} is none.")
    return head or ""


def _parse_optional_key(key: str | None) -> str:
    try:
        return "" if key is None else read_public_key(key)
    except BadInput as exc:
        raise UnusableOption(f"--key: {exc}") from exc


def _require_options_not_given(**given: object) -> None:
    if unused := [f"--{name}" for name, value in given.items() if value]:
        raise UnusableOption(f"{' and '.join(unused)} cannot be used with this: --head is for chains, --ca for packs.")


def verify_pack(path: Path, head: str, key: str = "", authority: Path | None = None) -> int:
    try:
        files = pack.open_pack(path)
        if is_bundle(files):
            _require_options_not_given(ca=authority)
            return _verify_bundle(path, files, head, key)
        manifest = pack.check_pack_and_get_manifest(files, head, key)
        left = describe_difference_from_rebuild(files)
        stamped_by = check_and_describe_stamp(files, authority) if authority else ""
    except OSError as exc:
        raise BadInput(f"cannot read {path}: {exc.strerror}.") from exc
    except pack.BrokenPack as exc:
        return _print_broken_and_get_code(f"{path}: {exc}")
    print_lines(
        f"holds: {path}: run {manifest['run']}, {manifest['events']} events, {len(files)} files",
        f"chain head {manifest['chain_head']}",
        f"manifest sha256 {pack.compute_sha256(files['manifest.json'])}",
        *pack.list_signer_and_unverified_claims(manifest, head, key),
        *pack.list_proof_explanations(files, manifest),
        *([stamped_by] if stamped_by else []),
        left or "its documents are identical to those that this Temper makes from these events",
    )
    return HOLDS if key else NOT_PINNED


def verify_shared_file(path: Path, head: str, key: str) -> int:
    try:
        manifest = check_shared_file_and_get_manifest(path.read_bytes(), head, key)
    except OSError as exc:
        raise BadInput(f"cannot read {path}: {exc.strerror}.") from exc
    except pack.BrokenPack as exc:
        return _print_broken_and_get_code(f"{path}: {exc}")
    hidden, untied = len(manifest["withheld"]), count_leading_events_vouched_for_by_sender_only(manifest)
    print_lines(
        f"holds: {path}: run {manifest['run']}, {manifest['events']} events and the pictures of their replay",
        f"chain head {manifest['chain_head']}",
        *([f"{hidden} prompts are withheld: their hashes are part of the chain"] if hidden else []),
        *([f"made by an older Temper: its first {untied} events are not signed"] if untied else []),
        *pack.list_signer_and_unverified_claims(manifest, head, key),
        "the page around them is not signed: it can say what it likes before it plays",
    )
    return HOLDS if key else NOT_PINNED


def _verify_bundle(path: Path, files: pack.Files, head: str, key: str) -> int:
    left: list[str] = []
    index = check_bundle(files, head, key, left.append)
    packs = f"{index['events']} events; so does the pack of each run, {len(index['runs'])} in all"
    print_lines(
        f"holds: {path}: rollout {index['rollout']}, {packs}",
        f"chain head {index['chain_head']}",
        f"manifest sha256 {pack.compute_sha256(files['manifest.json'])}",
        *pack.list_signer_and_unverified_claims(index, head, key),
        *left,
    )
    return HOLDS if key else NOT_PINNED


def verify_audit(settings: Settings, head: str, key: str = "") -> int:
    database = open_existing_database(settings)
    store = EventStore(database)
    try:
        rows, last, found, signed = read_valid_audit_log_with_chain_head(settings.data, database)
        for run, seal in found.seals.items():
            check_run_seal(run, seal, {seq: digest for seq, _, digest in store.read_lines(run, after=seal.events - 1)})
    except BrokenChain as exc:
        return _print_broken_and_get_code(f"audit log: {exc}")
    if head and head not in {digest for _, _, digest in rows}:
        return _print_broken_and_get_code(f"audit log: its chain head is {last}, and no line has the hash {head}")
    if key and key not in found.keys:
        return _print_broken_and_get_code(f"audit log: no line is signed with the key {key}")
    print_lines(f"holds: audit log, {len(rows)} lines", f"chain head {last}")
    if head and head != last:
        print_lines(f"{head} is the hash of an earlier line; the audit log has more lines now")
    if signed:
        print_lines(f"line {signed.seq} is signed by {signed.key}; it seals {len(found.seals)} runs")
    for lost in found.unvouched:
        print_lines(f"the key {lost} replaced a lost key, so the former key did not sign the change")
    return HOLDS


def verify_run(settings: Settings, id_prefix: str, head: str, key: str = "") -> int:
    database = open_existing_database(settings)
    run = resolve_run_id(database, id_prefix)
    with Session(database) as session:
        row = run_queries.find_run(session, run)
        session.expunge_all()
    rows = EventStore(database).read_lines(run)
    archive = find_kept_pack(database, run) if row and row.shrunk_at is not None else None
    try:
        found = _read_anchors_of_valid_audit_log(settings, database)
        last = (
            _check_shrunk_chain_and_get_head(archive, rows, key, found.keys)
            if archive
            else check_chain_and_get_head(rows, run)
        )
        log = [parse_line(line, digest) for _, line, digest in rows]
        if row:
            check_run_row(row, log)
        seal = found.seals.get(run)
        check_run_seal(run, seal, {seq: digest for seq, _, digest in rows})
    except BrokenChain as exc:
        return _print_broken_and_get_code(f"run {run}: {exc}")
    if head not in ("", last):
        return _print_broken_and_get_code(f"run {run}: its chain head is {last}, not {head}")
    if key and key not in found.keys:
        unsigned = f"the audit log that seals it has no line signed with the key {key}"
        return _print_broken_and_get_code(f"run {run}: {unsigned}")
    state = fold_events(log)
    counts = Counter(item.status for item in state.items.values())
    summary = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    sealed = f"line {seal.line} of the audit log seals {seal.events} events" if seal else ""
    print_lines(
        f"holds: run {run}, {len(rows)} events, {state.status}: {summary or 'no items'}",
        f"chain head {last}",
        sealed or "no line of the audit log seals it",
    )
    if archive:
        kept = f"its evidence, which is valid and has all {state.seq} events"
        print_lines(f"it was shrunk to {kept}; the events in the log are identical")
    if isinstance(state.ended, RunFinished | RunStopped) and state.ended.tree:
        print_lines(_describe_whether_host_changed_since_run(settings, database, state, state.ended.tree))
    return HOLDS


def read_valid_audit_log_with_chain_head(
    data: Path, database: Engine
) -> tuple[list[tuple[int, bytes, str]], str, AuditAnchors, SignedHead | None]:
    """Return the audit log's lines, chain head, anchors and signature. Raise BrokenChain if it does not hold."""
    with Session(database) as session:
        counted = read_recorded_audit_chain_end(session, AUDIT)
    signed, rows = find_signed_head(data / KEYS), EventStore(database).read_lines(AUDIT)
    last, found = check_chain_and_get_head(rows, AUDIT), read_anchors_from_already_verified_rows(rows)
    check_audit_log_end(rows, counted, signed, found)
    return rows, last, found, signed


def _read_anchors_of_valid_audit_log(settings: Settings, database: Engine) -> AuditAnchors:
    try:
        return read_valid_audit_log_with_chain_head(settings.data, database)[2]
    except BrokenChain as exc:
        raise BrokenChain(f"the audit log that seals it is not valid: {exc}") from exc


def _check_shrunk_chain_and_get_head(
    archive: bytes, rows: list[tuple[int, bytes, str]], key: str, own_keys: list[str]
) -> str:
    """Check the chain of a shrunk run through its evidence, since its log has gaps. Return the chain's head."""
    try:
        files = check_pack_against_shrunk_log(archive, rows)
        by = json.loads(files["manifest.json"]).get("key", "")
        head: str = pack.check_pack_and_get_manifest(files, key=key or (by if by in own_keys else ""))["chain_head"]
    except pack.BrokenPack as exc:
        raise BrokenChain(str(exc)) from exc
    return head


def print_lines(*lines: str) -> None:
    for line in lines:
        print_line(clean_line(line, 4000))


def _print_broken_and_get_code(reason: str) -> int:
    print_lines(f"does not hold: {reason}")
    return BROKEN


def _describe_whether_host_changed_since_run(
    settings: Settings, database: Engine, state: RunState, tree_digest: str
) -> str:
    assert state.request
    host = state.request.host
    with Session(database) as session:
        newest = run_queries.find_newest_run(session, host)
    if newest is None or newest.id != state.run:
        return f"a later run has worked on {host}"
    if open_target(host, settings.hosts_folder).compute_digest() == tree_digest:
        return f"{host} is as the run left it"
    return f"{host} is NOT as the run left it: its files have changed since"
