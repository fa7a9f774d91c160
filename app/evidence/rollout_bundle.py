"""The evidence of a rollout: the pack of each run, the rollout's own chain, and a signed index."""

import json
from collections.abc import Callable, Mapping, Sequence

from app.errors import EnvironmentUnusable
from app.events.kinds import RolloutHostBegun, RolloutHostEnded, RolloutHostLeft, RolloutOrdered
from app.events.record import Recorded, select_events
from app.evidence import verify
from app.evidence.build_id import compute_build_id
from app.evidence.pack import MOST_BYTES, encode_pack_json
from app.evidence.signing_key import Signer
from app.evidence.spool import Spool
from app.evidence.verify import Object, unpack_zip_packed_by_temper

FORMAT = "temper rollout evidence 1"
FILE, MEDIA_TYPE = "evidence.zip", "application/zip"


def write_bundle(events: Sequence[Recorded], get_pack: Callable[[str], bytes], signer: Signer, spool: Spool) -> None:
    """Write the bundle into a spool. `get_pack` returns a run's evidence.zip. Equal inputs give equal bytes."""
    asked = events[0].event
    assert isinstance(asked, RolloutOrdered)
    begun = select_events(events, RolloutHostBegun)
    spool.add("README.txt", _render_bundle_readme(events[0].run, asked, len(begun)).encode())
    spool.add("chain.txt", b"".join(f"{one.hash}\n".encode() for one in events))
    spool.add("rollout.jsonl", b"".join(one.line + b"\n" for one in events))
    heads: dict[str, str] = {}
    for one in begun:
        pack = get_pack(one.of)
        heads[one.of] = read_chain_head(pack)
        spool.add(name_pack_file(one.host, one.of), pack)
        if spool.held > MOST_BYTES:
            remedy = "take the evidence of its runs one by one"
            raise EnvironmentUnusable(f"rollout {events[0].run} is too large for one zip: {remedy}.")
    index = encode_pack_json(build_bundle_index(events, asked, spool.manifest_entries, heads, signer.public))
    spool.add("manifest.json", index)
    spool.add("manifest.sig", f"{signer.sign(verify.SEALED + index)}\n".encode())


def name_pack_file(host: str, run: str) -> str:
    return f"runs/{host}-{run}.zip"


def read_chain_head(pack: bytes) -> str:
    return str(json.loads(unpack_zip_packed_by_temper(pack)["manifest.json"])["chain_head"])


def build_bundle_index(
    events: Sequence[Recorded],
    rollout_order: RolloutOrdered,
    files: Sequence[Object],
    heads: Mapping[str, str],
    key: str,
) -> Object:
    """Return the index. `files` are manifest entries; `heads` has the chain head of each run."""
    ends = {one.of: one for one in select_events(events, RolloutHostEnded)}
    return {
        "format": FORMAT,
        "made_by": compute_build_id(),
        "key": key,
        "rollout": events[0].run,
        "asked_by": rollout_order.by,
        "note": rollout_order.note,
        "simulated": rollout_order.simulated,
        "events": len(events),
        "chain_head": events[-1].hash,
        "runs": [
            _build_run_entry(one, ends.get(one.of), heads[one.of]) for one in select_events(events, RolloutHostBegun)
        ],
        "not_begun": [{"host": one.host, "why": one.reason} for one in select_events(events, RolloutHostLeft)],
        "files": files,
    }


def _build_run_entry(begun: RolloutHostBegun, ended: RolloutHostEnded | None, head: str) -> Object:
    return {
        "host": begun.host,
        "run": begun.of,
        "wave": begun.wave,
        "state": ended.state if ended else "",
        "findings": ended.findings if ended else 0,
        "passed": ended.passed if ended else 0,
        "escalated": ended.escalated if ended else 0,
        "harm": ended.harm if ended else "",
        "chain_head": head,
    }


def _render_bundle_readme(rollout_id: str, rollout_order: RolloutOrdered, run_count: int) -> str:
    played = "\nSIMULATED: the engines, the hosts or both.\n" if rollout_order.simulated else ""
    return f"""Evidence of Temper rollout {rollout_id}: {len(rollout_order.hosts)} hosts, {run_count} of them begun.
{played}
runs/           The evidence.zip of each run, named by host and run. Each has its own README.txt and verify.py.
rollout.jsonl   What the rollout itself did: which host when, how each ended, who paused it and why.
chain.txt       The hash of each of those lines: sha256 over the one before it and the line; the first follows 64 zeros.
manifest.json   Host, run, outcome and chain head of each run, and the sha256 of every other file.
manifest.sig    The Ed25519 signature over manifest.json, in hexadecimal digits, by the key that it names.
"""
