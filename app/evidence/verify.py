"""Checks a Temper evidence pack without Temper: python3 -I verify.py [PACK [HEAD]]

PACK is an evidence.zip or the folder that it was unpacked into; left out, the folder of this file.
HEAD is the chain head as somebody noted it elsewhere: without it, a pack made up from end to end holds too.
Takes Python 3.9 or newer and nothing else. Use a copy that you trust: one from inside a pack vouches for itself.
"""

import csv
import hashlib
import io
import json
import re
import struct
import sys
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Files = dict[str, bytes]
Object = dict[str, Any]
Events = list[tuple[bytes, Object]]  # each line of the log as it was hashed, and what it says; no pieces of turns
LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
CUTS = {"actions.jsonl": ("action.",), "approvals.jsonl": ("approval.",), "verdicts.jsonl": ("scan.", "verdict")}
STATUS = {"pass": "not_a_finding", "fail": "open", "notapplicable": "not_applicable"}  # all else is not_reviewed
CKL_STATUS = {"not_a_finding": "NotAFinding", "open": "Open", "not_applicable": "Not_Applicable"}
ODD = (AttributeError, IndexError, KeyError, RecursionError, SyntaxError, TypeError, ValueError, csv.Error)


class Broken(Exception):
    """The first thing that does not hold, in one sentence."""


def chunks(files: Files) -> list[tuple[str, bytes]]:
    """Every byte of the one archive that these files make, and what it belongs to."""
    body, directory, offset = [], [], 0
    for name, content in files.items():
        raw, size = name.encode("ascii"), len(content)
        told = (20, 0, 0, 0, 33, zlib.crc32(content), size, size)  # stored, dated 1 January 1980
        head = LOCAL.pack(b"PK\3\4", *told, len(raw), 0) + raw
        body += [(name, head), (name, content)]
        entry = CENTRAL.pack(b"PK\1\2", 0x0314, *told, len(raw), 0, 0, 0, 0, 0o100644 << 16, offset) + raw
        directory.append((f"the directory's entry of {name}", entry))
        offset += len(head) + size
    seal = b"manifest sha256 " + digest(files.get("manifest.json", b"")).encode()
    count, length = len(files), sum(len(entry) for _, entry in directory)
    end = END.pack(b"PK\5\6", 0, 0, count, count, length, offset, len(seal)) + seal
    return [*body, *directory, ("the end of the archive", end)]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def unpack(data: bytes) -> Files:
    """The files, where every byte of the archive is as it was packed: none before, between or behind them."""
    files, at, last = {}, 0, "nothing"
    while data[at : at + 4] == b"PK\3\4" and at + LOCAL.size <= len(data):
        size, length = struct.unpack_from("<IH", data, at + 22)
        start = at + LOCAL.size + length
        last = data[at + LOCAL.size : start].decode("ascii", "replace")
        if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", last, re.ASCII):
            raise Broken(f"byte {at} of the archive begins a file with the name {last[:60]!a}, which no pack has")
        if last in files:
            raise Broken(f"the archive has {last} twice")
        files[last] = data[start : start + size]
        at = start + size
    if data[at : at + 4] != b"PK\1\2":
        raise Broken(f"after {last}, byte {at} of the archive begins neither a file nor its directory")
    order = iter(sorted(files))
    if moved := next((name for name in files if name != next(order)), None):
        raise Broken(f"{moved} is not where it was packed: the files of the archive are in another order")
    at = 0
    for what, chunk in chunks(files):
        if not data.startswith(chunk, at):
            first = next(n for n, byte in enumerate(chunk) if data[at + n : at + n + 1] != bytes([byte]))
            raise Broken(f"{what} is not as it was packed; byte {at + first} of the archive shows it")
        at += len(chunk)
    if at != len(data):
        raise Broken(f"{len(data) - at} bytes follow the end of the archive")
    return files


def check(files: Files, head: str = "") -> Object:
    """The manifest, when the pack holds."""
    try:
        manifest = _manifest(files)
        events = read_events(files, manifest, head)
        expected = plain(events)
        for name in sorted({*expected, *(name for name in files if name.startswith(("turns/", "diffs/")))}):
            if files.get(name) != expected.get(name):
                raise Broken(f"{name} is not what the events say")
        _in_order(files, events)
        _papers(files, events)
    except ODD as exc:
        raise Broken(f"the pack is not of the shape that Temper writes: {type(exc).__name__}: {exc}"[:300]) from exc
    return manifest


def _manifest(files: Files) -> Object:
    manifest: Object = json.loads(files["manifest.json"])
    listed = {entry["name"]: entry for entry in manifest["files"]}
    if alone := sorted(({*files} ^ {*listed}) - {"manifest.json"}):
        raise Broken(f"{alone[0]} is in the {'pack' if alone[0] in files else 'manifest'} alone")
    for name in listed:
        if (len(files[name]), digest(files[name])) != (listed[name]["size"], listed[name]["sha256"]):
            raise Broken(f"{name} is not what the manifest says: its sha256 is another")
    return manifest


def chain(files: Files) -> Iterator[tuple[int, bytes, str]]:
    """Each line of the log with its number and its hash, one after the other."""
    seq, hashes = 0, io.BytesIO(files["chain.txt"])
    for seq, line in enumerate(io.BytesIO(files["events.jsonl"]), 1):
        yield seq, line.removesuffix(b"\n"), hashes.readline().decode().removesuffix("\n")
    if hashes.read(1):
        raise Broken(f"there are {seq} events and more hashes")


def read_events(files: Files, manifest: Object, head: str) -> Events:
    """All that hold, but the pieces of turns, which are nearly all of a long log: a turn's end has its text whole."""
    events, last, previous = [], manifest, "0" * 64
    for seq, line, told in chain(files):
        previous = digest(previous.encode() + line)
        if previous != told:
            raise Broken(f"event {seq} is not what was recorded: its hash does not follow from event {seq - 1}")
        last = json.loads(line)
        if (last["seq"], last["run"]) != (seq, manifest["run"]):
            raise Broken(f"event {seq} says of itself that it is another")
        if last["kind"] != "turn.delta":
            events.append((line, last))
    host = events[0][1]["host"]
    for field, value in [("host", host), ("events", last["seq"]), ("chain_head", previous), ("as_of", last["at"])]:
        if manifest[field] != value:
            raise Broken(f"the manifest says {field} {manifest[field]}, and the events say {value}")
    if last["kind"] not in ("run.finished", "run.failed", "run.stopped"):
        raise Broken(f"the events end with {last['kind']}: the run has not ended")
    if head not in ("", previous):
        raise Broken(f"the chain head is {previous}, not {head}: this is another log")
    return events


def plain(events: Events) -> Files:
    """The files that are the events once more, for eyes: cuts of the log, each turn as text, each change as a diff."""
    cuts = {name: [line for line, event in events if event["kind"].startswith(kinds)] for name, kinds in CUTS.items()}
    files = {name: b"".join(line + b"\n" for line in cut) for name, cut in cuts.items()}
    ends = {event["turn"]: event for _, event in events if event["kind"] in ("turn.finished", "turn.interrupted")}
    for _, event in events:
        if event["kind"] in ("turn.started", "action.applied"):
            place = f"{event['seq']:06}-{event['rule']}-{event['attempt']}"
            if event["kind"] == "action.applied":
                files[f"diffs/{place}.diff"] = event["diff"].encode()
            else:
                text = _turn(event, ends.get(event["turn"], {}))
                files[f"turns/{place}-{event['role']}-{event['purpose']}.txt"] = text.encode()
    return files


def _turn(begun: Object, end: Object) -> str:
    parts = [
        ("turn", f"{begun['role']}, {begun['purpose']}: {begun['rule']} attempt {begun['attempt']}, {begun['at']}"),
        ("engine", f"{begun['engine']}, replica {begun['replica'] + 1}, model {begun['model']}"),
        ("outcome", f"{end.get('outcome') or end.get('reason', 'left open')} {end.get('detail', '')}".strip()),
        ("told by the system", begun["prompt"][0]),
        ("told", begun["prompt"][1]),
        ("thought", end.get("thought", "")),
        ("answer", end.get("answer", "")),
    ]
    return "".join(f"=== {title}\n{text}\n\n" for title, text in parts)


def _in_order(files: Files, events: Events) -> None:
    """Nothing was applied without the policy's leave and, where a person has to be asked, theirs for this very diff."""
    request, plan, allowed, asked, given, journal = events[0][1], b"", False, None, False, None
    careful = {rule["id"] for rule in json.loads(files["rules.json"]) if rule["irreversible"]}
    for line, event in events:
        kind, seq = event["kind"], event["seq"]
        bound = digest(b"\0".join([request["host"].encode(), plan, event.get("diff", "").encode()]))
        if kind in ("attempt.started", "action.proposed", "action.refused", "action.allowed", "approval.edited"):
            allowed, asked, given = kind == "action.allowed", None, False
        elif kind == "plan":
            plan = b"{" + line.split(f'"run":"{event["run"]}",'.encode(), 1)[1]
        elif kind == "approval.requested":
            asked, given = event, False
            if "diff" in event and event["binds"] != bound:  # the first Tempers asked without noting it
                raise Broken(f"the approval that event {seq} asks for is bound to another host, plan or diff")
        elif kind in ("approval.given", "approval.refused", "approval.expired"):
            if asked is None or asked["approval"] != event["approval"]:
                raise Broken(f"event {seq} answers an approval that was not asked for")
            given = kind == "approval.given"
        elif kind == "action.applying":
            person = request["mode"] == "review" or event["rule"] in careful
            if not allowed or request["mode"] == "dry-run" or (person and not given):
                lacking = "the approval that it needs" if allowed else "the policy's leave"
                raise Broken(f"event {seq} applies a change to {event['rule']} without {lacking}")
            journal = event["journal"]
        elif kind == "action.applied" and (event["journal"] != journal or (asked and asked["binds"] != bound)):
            raise Broken(f"event {seq} applied another change than the one before it announced")
        elif kind in ("action.rolled_back", "item.passed"):
            journal = None
        elif kind.startswith(("item.", "run.finished", "run.stopped")) and journal is not None:
            raise Broken(f"event {seq} goes on while a change is neither passed nor rolled back")


def _papers(files: Files, events: Events) -> None:
    """Checklists and POA&M say of every rule what the closing scan said."""
    words = {e["rule"]: e["word"] for _, e in events if e["kind"] == "verdict" and e["phase"] == "closing"}
    rules = [rule["id"] for rule in json.loads(files["rules.json"])]
    status = {rule: STATUS.get(words.get(rule, ""), "not_reviewed") for rule in rules}
    (stig,) = json.loads(files["checklist.cklb"])["stigs"]
    _same("checklist.cklb", [(rule["group_id"], rule["status"]) for rule in stig["rules"]], list(status.items()))
    ckl = files["checklist.ckl"]
    if not ckl.startswith(b'<?xml version="1.0" encoding="UTF-8"?>') or b"<!" in ckl:
        raise Broken("checklist.ckl declares what Temper never does")
    vulns = ET.fromstring(ckl).iter("VULN")  # noqa: S314  plain UTF-8 without a declaration: nothing to expand
    shown = [(vuln.findtext("STIG_DATA/ATTRIBUTE_DATA"), vuln.findtext("STATUS")) for vuln in vulns]
    _same("checklist.ckl", shown, [(rule, CKL_STATUS.get(one, "Not_Reviewed")) for rule, one in status.items()])
    left = [rule for rule in events[0][1]["rules"] if words.get(rule) not in ("pass", "notapplicable")]
    _same("poam.json", [row["rule"] for row in json.loads(files["poam.json"])["items"]], left)
    rows = csv.DictReader(io.StringIO(files["poam.csv"].decode("utf-8-sig"), newline=""))
    _same("poam.csv", [row["rule"] for row in rows], left)


def _same(name: str, said: list[Any], expected: list[Any]) -> None:
    if said != expected:
        odd = next((one for one in [*said, *expected] if one not in said or one not in expected), "the order")
        raise Broken(f"{name} does not say what the closing scan said: see {odd}")


def opened(path: Path) -> Files:
    if path.is_dir():
        return {one.relative_to(path).as_posix(): one.read_bytes() for one in path.rglob("*") if one.is_file()}
    return unpack(path.read_bytes())


def main(words: list[str]) -> int:
    try:
        files = opened(Path(words[0]) if words else Path(__file__).resolve().parent)
        manifest = check(files, words[1] if len(words) > 1 else "")
        told = [f"holds: run {manifest['run']}, {manifest['events']} events, {len(files)} files"]
        told += [f"chain head {manifest['chain_head']}", f"manifest sha256 {digest(files['manifest.json'])}"]
    except (Broken, OSError) as exc:
        told = [f"does not hold: {exc}"]
    sys.stdout.writelines("".join(one if one.isprintable() else "?" for one in line) + "\n" for line in told)
    return len(told) == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
