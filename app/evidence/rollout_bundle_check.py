"""Verifies the evidence of a rollout: its chain, its index, and the pack of each run."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from app.events.kinds import RolloutHostBegun, RolloutOrdered
from app.events.record import BrokenChain, Recorded, check_chain_and_get_head, parse_line, select_events
from app.evidence import verify
from app.evidence.pack import list_manifest_files
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.rollout_bundle import FORMAT, build_bundle_index, name_pack_file, read_chain_head
from app.evidence.verify import SHAPE_ERRORS, BrokenPack, Files, Object, unpack_zip_packed_by_temper

_UNLISTED_FILES = {"manifest.json", "manifest.sig"}


def is_bundle(files: Files) -> bool:
    """Return True for the evidence of a rollout, False for that of a single run."""
    try:
        return bool(json.loads(files["manifest.json"])["format"] == FORMAT)
    except (KeyError, RecursionError, TypeError, ValueError):
        return False


def check_bundle(
    files: Files, head: str = "", key: str = "", report_uncompared: Callable[[str], None] = lambda _: None
) -> Object:
    """Return the index if everything holds, else raise BrokenPack.

    `report_uncompared` is called with what could not be compared.
    """
    try:
        index: Object = json.loads(files["manifest.json"])
        _check_listed_files(files, index)
        verify.check_signature(files, index, key)
        events = _check_rollout_events(files, index, head)
        for run in index["runs"]:
            _check_run_pack(files[name_pack_file(run["host"], run["run"])], run, key, report_uncompared)
        _check_index(events, files, index)
    except (*SHAPE_ERRORS, BrokenChain, msgspec.MsgspecError) as exc:
        raise BrokenPack(f"it is not of the shape that Temper writes: {type(exc).__name__}: {exc}"[:300]) from exc
    return index


def _check_listed_files(files: Files, index: Object) -> None:
    if alone := {*files} ^ ({one["name"] for one in index["files"]} | _UNLISTED_FILES):
        raise BrokenPack(f"{min(alone)[:80]!a} is not both in the index and in the zip")
    for here, there in zip(
        list_manifest_files(_exclude_manifest_and_its_signature(files)), index["files"], strict=True
    ):
        if here != there:
            raise BrokenPack(f"{here['name']} is not the file that the index names")


def _exclude_manifest_and_its_signature(files: Files) -> Files:
    return {name: content for name, content in files.items() if name not in _UNLISTED_FILES}


def _check_rollout_events(files: Files, index: Object, head: str) -> list[Recorded]:
    lines, hashes = files["rollout.jsonl"].splitlines(), files["chain.txt"].decode("ascii").splitlines()
    rows = list(zip(range(1, len(lines) + 1), lines, hashes, strict=True))
    last = check_chain_and_get_head(rows, index["rollout"])
    if last != index["chain_head"] or len(rows) != index["events"]:
        raise BrokenPack("the index gives another chain head, or another number of events, than the chain has")
    if head not in ("", last):
        raise BrokenPack(f"its chain head is {last}, not {head}")
    return [parse_line(line, digest) for _, line, digest in rows]


def _check_run_pack(pack: bytes, run_entry: dict[str, Any], key: str, report_uncompared: Callable[[str], None]) -> None:
    try:
        files = unpack_zip_packed_by_temper(pack)
        manifest = verify.check_pack_and_get_manifest(files, run_entry["chain_head"], key)
        why = describe_difference_from_rebuild(files)
    except BrokenPack as exc:
        raise BrokenPack(f"the pack of {run_entry['host']}: {exc}") from exc
    if (manifest["run"], manifest["host"]) != (run_entry["run"], run_entry["host"]):
        raise BrokenPack(f"the pack of {run_entry['host']}: it is of run {manifest['run']} on {manifest['host']}")
    if why:
        report_uncompared(f"{run_entry['host']}: {why}")


def _check_index(events: list[Recorded], files: Files, index: Object) -> None:
    """Raise BrokenPack if the index or README.txt differs from the chain."""
    asked = events[0].event
    if not isinstance(asked, RolloutOrdered):
        raise BrokenPack("rollout.jsonl does not begin with what was asked for")
    begun = select_events(events, RolloutHostBegun)
    heads = {one.of: read_chain_head(files[name_pack_file(one.host, one.of)]) for one in begun}
    made = build_bundle_index(
        events, asked, list_manifest_files(_exclude_manifest_and_its_signature(files)), heads, index["key"]
    )
    again = json.loads(json.dumps(made | {"made_by": index["made_by"]}))
    if differs := [name for name in again if again[name] != index.get(name)] or sorted(index.keys() - again.keys()):
        raise BrokenPack(f"the index says of {differs[0]} something else than the chain")
    readme = files["README.txt"].decode()
    if index["rollout"] not in readme or (asked.simulated and "SIMULATED" not in readme):
        raise BrokenPack("README.txt is that of another rollout, or does not say that it was SIMULATED")
