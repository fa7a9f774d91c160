"""The evidence of a rollout: the pack of each of its runs, its own chain, and a signed index of both."""

import json
from collections.abc import Callable, Sequence

from app.errors import Unusable
from app.events.kinds import RolloutAsked, RolloutHostBegun, RolloutHostEnded, RolloutHostLeft
from app.events.record import Recorded
from app.evidence import verify
from app.evidence.key import Signer
from app.evidence.maker import maker
from app.evidence.pack import MOST_BYTES
from app.evidence.verify import Files, chunks, digest, unpack

FORMAT = "temper rollout evidence 1"
FILE, MEDIA_TYPE = "evidence.zip", "application/zip"


def bundle(events: Sequence[Recorded], pack_of: Callable[[str], bytes], signer: Signer) -> bytes:
    """`pack_of` a run: its evidence.zip. The same rollout and key give the same bytes."""
    asked = events[0].event
    assert isinstance(asked, RolloutAsked)
    begun = [one.event for one in events if isinstance(one.event, RolloutHostBegun)]
    files: Files = {
        "README.txt": _readme(events[0].run, asked, len(begun)).encode(),
        "chain.txt": b"".join(f"{one.hash}\n".encode() for one in events),
        "rollout.jsonl": b"".join(one.line + b"\n" for one in events),
    }
    for one in begun:
        files[f"runs/{one.host}-{one.of}.zip"] = pack_of(one.of)
        if sum(map(len, files.values())) > MOST_BYTES:
            said = "take the evidence of its runs one by one"
            raise Unusable(f"rollout {events[0].run} is too large for one zip: {said}.")
    files["manifest.json"] = told = json.dumps(index(events, asked, files, signer.public), indent=1).encode() + b"\n"
    files["manifest.sig"] = f"{signer.sign(verify.SEALED + told)}\n".encode()
    return b"".join(chunk for _, chunk in chunks(dict(sorted(files.items()))))


def index(events: Sequence[Recorded], asked: RolloutAsked, files: Files, key: str) -> dict[str, object]:
    runs = {one.event.of: one.event for one in events if isinstance(one.event, RolloutHostBegun)}
    ends = {one.event.of: one.event for one in events if isinstance(one.event, RolloutHostEnded)}
    return {
        "format": FORMAT,
        "made_by": maker(),
        "key": key,
        "rollout": events[0].run,
        "asked_by": asked.by,
        "note": asked.note,
        "simulated": asked.simulated,
        "events": len(events),
        "chain_head": events[-1].hash,
        "runs": [_run(begun, ends.get(of), files[f"runs/{begun.host}-{of}.zip"]) for of, begun in runs.items()],
        "not_begun": [
            {"host": one.event.host, "why": one.event.reason}
            for one in events
            if isinstance(one.event, RolloutHostLeft)
        ],
        "files": [{"name": name, "size": len(files[name]), "sha256": digest(files[name])} for name in sorted(files)],
    }


def _run(begun: RolloutHostBegun, ended: RolloutHostEnded | None, pack: bytes) -> dict[str, object]:
    told = json.loads(unpack(pack)["manifest.json"])
    return {
        "host": begun.host,
        "run": begun.of,
        "wave": begun.wave,
        "state": ended.state if ended else "",
        "findings": ended.findings if ended else 0,
        "passed": ended.passed if ended else 0,
        "escalated": ended.escalated if ended else 0,
        "harm": ended.harm if ended else "",
        "chain_head": told["chain_head"],
    }


def _readme(rollout: str, asked: RolloutAsked, runs: int) -> str:
    played = "\nSIMULATED: the engines, the hosts or both.\n" if asked.simulated else ""
    return f"""Evidence of Temper rollout {rollout}: {len(asked.hosts)} hosts, {runs} of them begun.
{played}
runs/           The evidence.zip of each run, named by host and run. Each has its own README.txt and verify.py.
rollout.jsonl   What the rollout itself did: which host when, how each ended, who paused it and why.
chain.txt       The hash of each of those lines: sha256 over the one before it and the line; the first follows 64 zeros.
manifest.json   Host, run, outcome and chain head of each run, and the sha256 of every other file.
manifest.sig    The Ed25519 signature over manifest.json, in hexadecimal digits, by the key that it names.
"""
