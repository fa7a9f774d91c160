"""Builds evidence.zip, which a third party can verify without Temper."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from io import BytesIO
from pathlib import Path

import msgspec

from app.errors import EnvironmentUnusable
from app.events.kinds import TurnDelta
from app.events.record import Recorded, format_timestamp
from app.evidence import verify
from app.evidence.build_id import compute_build_id
from app.evidence.document_catalog import PAPERS
from app.evidence.run_record import RunRecord, read_run_record
from app.evidence.signing_key import Signer
from app.evidence.verify import (
    Events,
    Files,
    Object,
    build_plain_files,
    build_zip_chunks_with_part_names,
    compute_sha256,
)
from app.skills.skill import build_rulebook

FORMAT = "temper evidence 3"
_README = Path(__file__).with_name("pack_readme.txt")
FILE, MEDIA_TYPE = "evidence.zip", "application/zip"
MOST_FILES, MOST_BYTES = 60_000, 3 * 1024**3
"""Limits below those of a plain zip."""


def build_pack(events: Iterable[Recorded], signer: Signer) -> bytes:
    """Return evidence.zip, or raise EnvironmentUnusable if it does not verify. Equal runs and keys give equal bytes."""
    return b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(build_checked_files(events, signer)))


def build_checked_files(events: Iterable[Recorded], signer: Signer) -> Files:
    """Return the files of the pack, or raise EnvironmentUnusable if it is too large or does not verify."""
    files = build_pack_files(events, signer)
    run = json.loads(files["manifest.json"])["run"]
    if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_BYTES:
        raise EnvironmentUnusable(
            f"run {run} is too large for one zip: get its events from the API, and download each document by itself."
        )
    try:
        verify.check_pack_and_get_manifest(files, key=signer.public)
    except verify.BrokenPack as exc:
        raise EnvironmentUnusable(f"run {run} cannot be packed as evidence: {exc}.") from exc
    return files


def build_pack_files(events: Iterable[Recorded], signer: Signer) -> Files:
    log = PackLog()
    case = read_run_record(log.yield_and_collect_events(events))
    files = {
        "README.txt": _render_pack_readme(case).encode(),
        "chain.txt": log.hashes.getvalue(),
        "events.jsonl": log.lines.getvalue(),
        "lineup.json": encode_pack_json(_build_lineup(case)),
        "rules.json": build_rulebook(case.skill),
        "verify.py": Path(verify.__file__).read_bytes(),
        **{paper.file: paper.build(case) for paper in PAPERS if paper.packed},
        **build_plain_files(log.steady),
    }
    files["manifest.json"] = manifest = encode_pack_json(_build_manifest(case, files, signer))
    files[verify.ATTESTED] = _build_signed_statement(case, manifest, _build_lineup(case), signer)
    files["manifest.sig"] = f"{signer.sign(verify.SEALED + manifest)}\n".encode()
    return dict(sorted(files.items()))


class PackLog:
    """Collects the log's lines and hashes while events stream through; turn deltas are not kept as objects."""

    def __init__(self) -> None:
        self.lines, self.hashes = BytesIO(), BytesIO()
        self.steady: Events = []

    def yield_and_collect_events(self, events: Iterable[Recorded]) -> Iterator[Recorded]:
        for one in events:
            self.lines.write(one.line + b"\n")
            self.hashes.write(f"{one.hash}\n".encode())
            if not isinstance(one.event, TurnDelta):
                self.steady.append((one.line, json.loads(one.line)))
            yield one


def _build_manifest(case: RunRecord, files: Files, signer: Signer) -> dict[str, object]:
    started = case.state.started
    begun = started.rulebook if started else ""
    changes = signer.list_key_changes_since(started.key) if started else []
    return {
        "format": FORMAT,
        "made_by": compute_build_id(),
        "key": signer.public,
        **({"key_changes": changes} if changes else {}),
        "run": case.run,
        "host": case.request.host,
        "simulated": case.simulated,
        "as_of": format_timestamp(case.state.at),
        "events": case.state.seq,
        "chain_head": case.head,
        "rules": "as the run began" if begun in ("", compute_sha256(files["rules.json"])) else "newer",
        "files": list_manifest_files(files),
    }


def list_manifest_files(files: Files) -> list[Object]:
    return [{"name": name, "size": len(files[name]), "sha256": compute_sha256(files[name])} for name in sorted(files)]


def _build_lineup(case: RunRecord) -> dict[str, object]:
    started = case.state.started
    return {
        "lineup": case.request.lineup,
        "simulated": case.request.simulated,
        "pace": case.request.pace,
        "temper": started.temper if started else "",
        "scanner": started.scanner if started else "",
        "confinement": started.confinement if started else "",
        "seats": msgspec.to_builtins(started.seats) if started else [],
        "asked": [asdict(seat) for seat in case.seats],
    }


def _build_signed_statement(case: RunRecord, manifest: bytes, lineup: Object, signer: Signer) -> bytes:
    """Return the in-toto statement in a signed DSSE envelope. Its subject, the manifest, lists all other files."""
    statement = {
        "_type": verify.STATEMENT,
        "subject": [{"name": "manifest.json", "digest": {"sha256": compute_sha256(manifest)}}],
        "predicateType": verify.PREDICATE,
        "predicate": {
            "run": case.run,
            "host": case.request.host,
            "chain_head": case.head,
            "simulated": case.simulated,
            "made_by": compute_build_id(),
            "benchmark": case.published.note,
            "lineup": lineup,
            "rules": [
                {
                    "id": one.named.id,
                    "group": one.named.group,
                    "before": one.opening.word if one.opening else "",
                    "after": one.closing.word if one.closing else "",
                    "waived": one.waiver is not None,
                }
                for one in case.requested_rules
            ],
        },
    }
    return build_signed_envelope(json.dumps(statement, ensure_ascii=True).encode(), signer)


def build_signed_envelope(payload: bytes, signer: Signer) -> bytes:
    signature = base64.b64encode(bytes.fromhex(signer.sign(verify.encode_envelope(payload)))).decode()
    signatures, content = [{"keyid": signer.public, "sig": signature}], base64.b64encode(payload).decode()
    envelope = {"payloadType": verify.INTOTO, "payload": content, "signatures": signatures}
    return json.dumps(envelope, indent=1).encode() + b"\n"


def encode_pack_json(value: object) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=True).encode() + b"\n"


def _render_pack_readme(case: RunRecord) -> str:
    as_of, host = format_timestamp(case.state.at), case.request.host
    played = f"\nSIMULATED: {case.simulated}.\n" if case.simulated else ""
    papers = "".join(f"{paper.file:18}{paper.explained}\n" for paper in PAPERS if paper.packed)
    text = _README.read_text()
    return text.format(run=case.run, host=host, as_of=as_of, head=case.head, played=played, papers=papers)
