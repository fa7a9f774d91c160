"""Verify a Temper evidence pack without Temper: python3 -I verify.py [PACK [HEAD]] [--key KEY]

PACK is an evidence.zip or the folder with its unpacked files; the default is the folder of this file.
HEAD is the chain head as noted elsewhere. KEY is the public key of the Temper that made the pack: the 64 hexadecimal
digits that `temper key` prints there. Without HEAD and KEY, a pack that was forged as a whole is not found out.
Ends with 0 if the pack is whole and signed by KEY, 1 if it is not whole, 3 if it is whole and no KEY was given,
and 64 if the arguments are not understood.
Requires Python 3.9 or newer and nothing else. Use a copy that you trust, not the one inside the pack.
"""

import base64
import csv
import hashlib
import html
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
Events = list[tuple[bytes, Object]]  # each line of the log as hashed, and its decoded object; without turn deltas
LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
CUTS = {"actions.jsonl": ("action.",), "approvals.jsonl": ("approval.",), "verdicts.jsonl": ("scan.", "verdict")}
FORMATS = ("temper evidence 1", "temper evidence 2", "temper evidence 3")  # format 1 has no signature
ATTESTED, STAMP, RECEIPT = "statement.json", "manifest.tsr", "statement.receipt"
LONGEST_RECEIPT = 64 * 1024
INTOTO, STATEMENT = "application/vnd.in-toto+json", "https://in-toto.io/Statement/v1"
PREDICATE = "urn:temper:hardening-run:1"
HOLDS, BROKEN, UNPINNED, USAGE = 0, 1, 3, 64  # exit codes
NOT_PINNED = "not pinned: the papers could have been replaced by the maker of the pack; give --key"
NEXT_KEY = b"temper next key\n"
SEALED = b"temper evidence manifest\n"  # signed data starts with its type: no signature can pass for another
UNLISTED_FILES = {"manifest.json", "manifest.sig", ATTESTED, STAMP, RECEIPT}  # not listed in the manifest
PAPERS = {"checklist.cklb", "checklist.ckl", "results.arf.xml", "poam.csv", "poam.json", "report.html"}
OSCAL = {"results.oscal.json", "poam.oscal.json"}
LATER = {"results.xccdf.xml", "poam.emass.csv", *OSCAL}  # papers that are missing in packs of older versions
PARTS = {
    *("README.txt", "chain.txt", "events.jsonl", "lineup.json", "rules.json", "verify.py"),
    *(*CUTS, *PAPERS, *UNLISTED_FILES),
}
SEVERITY = {"I": "high", "II": "medium", "III": "low"}
SHOWN = {"not_a_finding": "not a finding", "open": "open", "not_applicable": "not applicable"}
DONE = ("not_a_finding", "not_applicable")
STATUS = {"pass": "not_a_finding", "fail": "open", "notapplicable": "not_applicable"}  # any other word is not_reviewed
CKL_STATUS = {"not_a_finding": "NotAFinding", "open": "Open", "not_applicable": "Not_Applicable"}
SHAPE_ERRORS = (AttributeError, IndexError, KeyError, RecursionError, SyntaxError, TypeError, ValueError, csv.Error)


class BrokenPack(Exception):
    """The pack fails verification; the message has the first failure."""


class BadArguments(Exception):
    """The arguments are not understood; nothing was verified."""


def build_zip_chunks_with_part_names(files: Files) -> list[tuple[str, bytes]]:
    """Return the bytes of the archive of these files in order, each chunk with the name of its owner."""
    entries = [(name, len(content), zlib.crc32(content)) for name, content in files.items()]
    heads, end = build_zip_headers_directory_and_end(entries, compute_sha256(files.get("manifest.json", b"")))
    body = [pair for head, (name, content) in zip(heads, files.items()) for pair in ((name, head), (name, content))]
    return [*body, *end]


def build_zip_headers_directory_and_end(
    entries: list[tuple[str, int, int]], manifest_sha256: str
) -> tuple[list[bytes], list[tuple[str, bytes]]]:
    """Return the archive's header of each file, given as name, size and checksum, and its directory and end."""
    heads, directory, offset = [], [], 0
    for name, size, crc in entries:
        raw = name.encode("ascii")
        fields = (20, 0, 0, 0, 33, crc, size, size)  # stored, dated 1 January 1980
        heads.append(LOCAL.pack(b"PK\3\4", *fields, len(raw), 0) + raw)
        entry = CENTRAL.pack(b"PK\1\2", 0x0314, *fields, len(raw), 0, 0, 0, 0, 0o100644 << 16, offset) + raw
        directory.append((f"the directory's entry of {name}", entry))
        offset += len(heads[-1]) + size
    seal = b"manifest sha256 " + manifest_sha256.encode()
    count, length = len(entries), sum(len(entry) for _, entry in directory)
    end = END.pack(b"PK\5\6", 0, 0, count, count, length, offset, len(seal)) + seal
    return heads, [*directory, ("the end of the archive", end)]


def compute_sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def unpack_zip_packed_by_temper(data: bytes) -> Files:
    """Return the files, or raise BrokenPack if any byte of the archive is not as Temper packs it."""
    files, at, last = {}, 0, "nothing"
    while data[at : at + 4] == b"PK\3\4" and at + LOCAL.size <= len(data):
        size, length = struct.unpack_from("<IH", data, at + 22)
        start = at + LOCAL.size + length
        last = data[at + LOCAL.size : start].decode("ascii", "replace")
        if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", last, re.ASCII):
            raise BrokenPack(f"byte {at} of the archive begins a file with the name {last[:60]!a}, which no pack has")
        if last in files:
            raise BrokenPack(f"the archive has {last} twice")
        files[last] = data[start : start + size]
        at = start + size
    if data[at : at + 4] != b"PK\1\2":
        raise BrokenPack(f"after {last}, byte {at} of the archive begins neither a file nor its directory")
    order = iter(sorted(files))
    if moved := next((name for name in files if name != next(order)), None):
        raise BrokenPack(f"{moved} is not where it was packed: the files of the archive are in another order")
    at = 0
    for what, chunk in build_zip_chunks_with_part_names(files):
        if not data.startswith(chunk, at):
            first = next(n for n, byte in enumerate(chunk) if data[at + n : at + n + 1] != bytes([byte]))
            raise BrokenPack(f"{what} is not as it was packed; byte {at + first} of the archive shows it")
        at += len(chunk)
    if at != len(data):
        raise BrokenPack(f"{len(data) - at} bytes follow the end of the archive")
    return files


def check_pack_and_get_manifest(files: Files, head: str = "", key: str = "") -> Object:
    """Return the manifest if the pack verifies, else raise BrokenPack. `key` is the required public key."""
    try:
        manifest = _check_manifest(files)
        check_signature(files, manifest, key)
        events = read_events_except_deltas(files, manifest, head)
        expected = build_plain_files(events)
        for name in sorted({*expected, *(name for name in files if name not in PARTS | LATER)}):
            if files.get(name) != expected.get(name):
                raise BrokenPack(f"{name} is not what the events say")
        _check_change_approvals(files, events)
        _check_reboot_approval(events)
        _check_papers(files, events, manifest, key)
        check_logged_signer_unless_key_given(
            manifest, _find_start_field(events, "key") or "", key
        )  # last: what a paper says names its fault
    except SHAPE_ERRORS as exc:
        raise BrokenPack(f"the pack is not of the shape that Temper writes: {type(exc).__name__}: {exc}"[:300]) from exc
    return manifest


def _check_manifest(files: Files) -> Object:
    manifest: Object = json.loads(files["manifest.json"])
    listed = {entry["name"]: entry for entry in manifest["files"]}
    if alone := sorted(({*files} - UNLISTED_FILES) ^ {*listed}):
        raise BrokenPack(f"{alone[0]} is in the {'pack' if alone[0] in files else 'manifest'} alone")
    if lacking := sorted(PARTS - UNLISTED_FILES - {*files}):
        raise BrokenPack(f"{lacking[0]} is missing")
    for name in listed:
        if (len(files[name]), compute_sha256(files[name])) != (listed[name]["size"], listed[name]["sha256"]):
            raise BrokenPack(f"{name} is not what the manifest says: its sha256 is another")
    if manifest["format"] not in FORMATS:
        raise BrokenPack(f"the format {str(manifest['format'])[:60]!a} is not known here: take a newer verify.py")
    return manifest


def check_signature(files: Files, manifest: Object, key: str) -> None:
    by, signature = manifest.get("key", ""), files.get("manifest.sig")
    if signature is None and manifest["format"] == FORMATS[0] and not by:
        if key:
            raise BrokenPack("it is not signed: the key that you gave vouches for nothing in it")
        return
    if signature is None or not re.fullmatch(rb"[0-9a-f]{128}\n", signature) or not re.fullmatch("[0-9a-f]{64}", by):
        raise BrokenPack("manifest.sig is not the signature of a key that the manifest names")
    if not verify_ed25519(bytes.fromhex(by), bytes.fromhex(signature.decode()), SEALED + files["manifest.json"]):
        raise BrokenPack("manifest.json is not what was signed")
    if key and key != by:
        raise BrokenPack(f"it is signed by the key {by}, and not by the one that you gave")


def check_logged_signer_unless_key_given(manifest: Object, logged_key: str, key_trusted_instead_of_log: str) -> None:
    """Raise BrokenPack unless the signer is the key that the log names, or its successor. A given key counts alone.

    The manifest lists the changes of the key since the log, each new key signed by the one before it."""
    for change in manifest.get("key_changes", []):
        signature, new = bytes.fromhex(change["signature"]), bytes.fromhex(change["key"])
        if not logged_key or not verify_ed25519(bytes.fromhex(logged_key), signature, NEXT_KEY + new):
            raise BrokenPack("the manifest lists a change of the key that the key before it did not sign")
        logged_key = change["key"]
    if not key_trusted_instead_of_log and logged_key and logged_key != manifest.get("key", ""):
        why = "after a lost key that is right: give --key if you know whose it is"
        raise BrokenPack(f"it is signed by the key {manifest.get('key')}, and the log names {logged_key}; {why}")


def encode_envelope(payload: bytes) -> bytes:
    """Encode the data that a DSSE signature covers: type and content, each after its length."""
    kind = INTOTO.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _check_statement(files: Files, manifest: Object, rows: list[Object], requested_rules: list[str]) -> None:
    """Raise BrokenPack if the in-toto statement contradicts the pack. Formats 1 and 2 have no statement."""
    content = files.get(ATTESTED)
    if content is None and manifest["format"] in FORMATS[:2]:
        return
    envelope = json.loads(content or b"{}")
    payload = base64.b64decode(envelope.get("payload", ""), validate=True)
    ((key, signature),) = [(one["keyid"], one["sig"]) for one in envelope.get("signatures", [{"keyid": "", "sig": ""}])]
    by = base64.b64decode(signature, validate=True)
    if key != manifest.get("key") or not verify_ed25519(bytes.fromhex(key), by, encode_envelope(payload)):
        raise BrokenPack(f"{ATTESTED} is not signed by the key that the manifest names")
    statement, known = json.loads(payload), {row["id"]: row for row in rows}
    scans = [(known[rule]["named"], known[rule]["opening"], known[rule]) for rule in requested_rules]
    expected = {field: manifest[field] for field in ("run", "host", "chain_head", "simulated", "made_by")}
    expected["lineup"] = json.loads(files["lineup.json"])
    expected["rules"] = [
        {
            "id": named["id"],
            "group": named["group"],
            "before": opening["word"] if opening else "",
            "after": row["closing"]["word"] if row["closing"] else "",
            "waived": bool(row["waiver"]),
        }
        for named, opening, row in scans
    ]
    expected["benchmark"] = statement["predicate"]["benchmark"]
    subject = [{"name": "manifest.json", "digest": {"sha256": compute_sha256(files["manifest.json"])}}]
    whole = {"_type": STATEMENT, "subject": subject, "predicateType": PREDICATE, "predicate": expected}
    if envelope["payloadType"] != INTOTO or statement != whole:
        raise BrokenPack(f"{ATTESTED} states something else than the pack")


def parse_der(content: bytes) -> "list[tuple[int, bytes]]":
    """Return the tag and content of each DER element in `content`."""
    found, at = [], 0
    while at < len(content):
        tag, size, at = content[at], content[at + 1], at + 2
        if size > 127:
            more = size & 127
            size, at = int.from_bytes(content[at : at + more], "big"), at + more
        if at + size > len(content):
            raise ValueError("an element of the time stamp ends behind it")
        found.append((tag, content[at : at + size]))
        at += size
    return found


def read_stamp_time(stamp: bytes, manifest: bytes) -> str:
    """Return the stamp's time if it is of this manifest, else raise ValueError. The signature is not checked here."""
    ((_, response),) = parse_der(stamp)
    (_, status), (_, token) = parse_der(response)[:2]
    if int.from_bytes(parse_der(status)[0][1], "big") > 1:
        raise ValueError("the time stamp was not granted")
    signed_data = parse_der(parse_der(parse_der(token)[1][1])[0][1])
    ((_, info),) = parse_der(parse_der(parse_der(signed_data[2][1])[1][1])[0][1])
    _, _, (_, imprint), _, (_, at) = parse_der(info)[:5]
    if parse_der(imprint)[1][1] != hashlib.sha256(manifest).digest():
        raise ValueError("the time stamp is of something else")
    parts = re.fullmatch(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z", at.decode("ascii"))
    if parts is None:
        raise ValueError("the time stamp has no time")
    return "{}-{}-{}T{}:{}:{}Z".format(*parts.groups())


def read_unverified_external_log_answer(receipt: bytes, statement: bytes) -> bytes:
    """Return the external log's answer to this statement. The log's own tool must check it."""
    fields = json.loads(receipt)
    answer = base64.b64decode(fields["answer"], validate=True)
    if len(answer) > LONGEST_RECEIPT or {*fields} != {"statement", "command", "answer"}:
        raise ValueError("the receipt is not of the shape that Temper writes")
    if fields["statement"] != compute_sha256(statement):
        raise ValueError("the receipt is of something else")
    return answer


def list_proof_explanations(files: Files, manifest: Object) -> "list[str]":
    """Return one line for each seal: what it proves and what it does not."""
    lines = ["the chain proves that no event was changed, added or dropped since the head was noted; not what was seen"]
    if manifest.get("key"):
        lines.append("the signature proves who made the pack; not when, nor that the host was as it says")
    if ATTESTED in files:
        lines.append(f"{ATTESTED} is the same signature for tools that read in-toto, over this very manifest")
    if STAMP in files:
        lines.append(
            f"an authority says that it saw this manifest at {read_stamp_time(files[STAMP], files['manifest.json'])};"
        )
        lines.append(f"whose word that is, openssl ts -verify -data manifest.json -in {STAMP} -CAfile CA.pem tells")
    else:
        lines.append("no time stamp: when it was made is the maker's word alone")
    if RECEIPT in files:
        answer = read_unverified_external_log_answer(files[RECEIPT], files[ATTESTED]).decode("ascii", "replace")
        shown = " ".join("".join(one if " " <= one <= "~" else " " for one in answer).split())[:200]
        lines.append(f"{RECEIPT} has what a log answered to {ATTESTED}, in its own words: {shown}")
        lines.append("whether the log holds it, the log's own tool tells, and nothing here does")
    return lines


def list_signer_and_unverified_claims(manifest: Object, head: str, key: str) -> list[str]:
    """Return who signed and one line for each claim that the given key and head do not verify."""
    by = manifest.get("key")
    if not by:
        lines = ["it is not signed: its documents may have been changed by the sender"]
    else:
        given = "the key that you gave" if key else "a key that nobody vouched for here: compare it"
        lines = [f"signed by {by}, {given}"]
    lines += [] if key else [NOT_PINNED]
    if not head and not key:
        lines.append("compare the chain head, too, with one that was noted elsewhere")
    return lines


# Ed25519 after RFC 8032, section 5.1. All inputs are public, so timing does not matter.
FIELD, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, FIELD - 2, FIELD) % FIELD
Point = tuple[int, int, int, int]  # x, y, z and t with x = X/Z, y = Y/Z, xy = T/Z


def verify_ed25519(key: bytes, signature: bytes, message: bytes) -> bool:
    public, first = _decode_point_if_valid(key), _decode_point_if_valid(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    base = _decode_point_if_valid((4 * pow(5, FIELD - 2, FIELD) % FIELD).to_bytes(32, "little"))
    if public is None or first is None or base is None or len(signature) != 64 or scalar >= ORDER:
        return False
    bound = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = _multiply_point(scalar, base), _add_elliptic_curve_points(first, _multiply_point(bound, public))
    return all((left[n] * right[2] - right[n] * left[2]) % FIELD == 0 for n in (0, 1))


def _decode_point_if_valid(encoded: bytes) -> "Point | None":
    both = int.from_bytes(encoded, "little")
    y, odd = both & (2**255 - 1), both >> 255
    if len(encoded) != 32 or y >= FIELD:
        return None
    square = (y * y - 1) * pow(CURVE * y * y + 1, FIELD - 2, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if (x * x - square) % FIELD or (not x and odd):
        return None
    x = FIELD - x if x & 1 != odd else x
    return x, y, 1, x * y % FIELD


def _add_elliptic_curve_points(one: Point, other: Point) -> Point:
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % FIELD, (one[1] + one[0]) * (other[1] + other[0]) % FIELD
    c, d = 2 * one[3] * other[3] * CURVE % FIELD, 2 * one[2] * other[2] % FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD


def _multiply_point(scalar: int, point: Point) -> Point:
    made: Point = (0, 1, 1, 0)
    while scalar:
        made = _add_elliptic_curve_points(made, point) if scalar & 1 else made
        point, scalar = _add_elliptic_curve_points(point, point), scalar >> 1
    return made


def read_unverified_chain(files: Files) -> Iterator[tuple[int, bytes, str]]:
    """Yield the number, the line and the hash of each event."""
    seq, hashes = 0, io.BytesIO(files["chain.txt"])
    for seq, line in enumerate(io.BytesIO(files["events.jsonl"]), 1):
        yield seq, line.removesuffix(b"\n"), hashes.readline().decode().removesuffix("\n")
    if hashes.read(1):
        raise BrokenPack(f"there are {seq} events and more hashes")


def read_events_except_deltas(files: Files, manifest: Object, head: str) -> Events:
    """Return all events but turn deltas, which a turn's end repeats; raise BrokenPack if the chain is broken."""
    events, last, previous = [], manifest, "0" * 64
    for seq, line, digest in read_unverified_chain(files):
        previous = compute_sha256(previous.encode() + line)
        if previous != digest:
            raise BrokenPack(f"event {seq} is not what was recorded: its hash does not follow from event {seq - 1}")
        last = json.loads(line)
        if (last["seq"], last["run"]) != (seq, manifest["run"]):
            raise BrokenPack(f"event {seq} says of itself that it is another")
        if last["kind"] != "turn.delta":
            events.append((line, last))
    host = events[0][1]["host"]
    for field, value in [("host", host), ("events", last["seq"]), ("chain_head", previous), ("as_of", last["at"])]:
        if manifest[field] != value:
            raise BrokenPack(f"the manifest says {field} {manifest[field]}, and the events say {value}")
    if last["kind"] not in ("run.finished", "run.failed", "run.stopped"):
        raise BrokenPack(f"the events end with {last['kind']}: the run has not ended")
    if head not in ("", previous):
        raise BrokenPack(f"the chain head is {previous}, not {head}: this is another log")
    return events


def build_plain_files(events: Events) -> Files:
    """Return the readable files made from the events: extracts of the log, turns as text, changes as diffs."""
    cuts = {name: [line for line, event in events if event["kind"].startswith(kinds)] for name, kinds in CUTS.items()}
    files = {name: b"".join(line + b"\n" for line in cut) for name, cut in cuts.items()}
    ends = {event["turn"]: event for _, event in events if event["kind"] in ("turn.finished", "turn.interrupted")}
    for _, event in events:
        if event["kind"] in ("turn.started", "action.applied"):
            place = f"{event['seq']:06}-{event['rule']}-{event['attempt']}"
            if event["kind"] == "action.applied":
                files[f"diffs/{place}.diff"] = event["diff"].encode()
            else:
                text = _format_turn(event, ends.get(event["turn"], {}))
                files[f"turns/{place}-{event['role']}-{event['purpose']}.txt"] = text.encode()
    return files


def _format_turn(begun: Object, end: Object) -> str:
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


def _check_change_approvals(files: Files, events: Events) -> None:
    """Raise BrokenPack if a change was applied without the policy's permission or a required approval of its diff."""
    request, plan, allowed, asked, journal, theirs = events[0][1], b"", False, None, None, False
    offered: Object | None = None
    policy: Object = {}
    needs: Object = {}
    given: list[set[str]] = []
    askers: set[str] = set()
    careful = {rule["id"] for rule in json.loads(files["rules.json"]) if rule["irreversible"]}
    for line, event in events:
        kind, seq = event["kind"], event["seq"]
        bound = compute_sha256(b"\0".join([request["host"].encode(), plan, event.get("diff", "").encode()]))
        if kind == "run.started":
            policy = event.get("approvals") or {}
        if kind == "attempt.started":
            offered = event.get("offered")
        if kind == "action.proposed" and event.get("replayed"):
            fix = (event["replayed"], event["actions"])
            if offered is None or fix != (offered["id"], offered["actions"]):
                raise BrokenPack(f"event {seq} says that it repeats {event['replayed']}, and proposes something else")
        if kind == "action.proposed":
            theirs = any(action["do"] == "run_vendor_script" for action in event["actions"])
            askers = {one.casefold() for one in (request.get("by"), request.get("whose"), event.get("by")) if one}
        if kind in ("attempt.started", "action.proposed", "action.refused", "action.allowed", "approval.edited"):
            allowed, asked, given = kind == "action.allowed", None, []
            needs = _read_checked_needs(event, policy) if allowed else {}
        elif kind == "plan":
            plan = b"{" + line.split(f'"run":"{event["run"]}",'.encode(), 1)[1]
        elif kind == "approval.requested":
            asked, given = event, []
            is_change = event.get("about", "change") == "change"
            if is_change and "diff" in event and event["binds"] != bound:  # the first versions did not record the diff
                raise BrokenPack(f"the approval that event {seq} asks for is bound to another host, plan or diff")
        elif kind in ("approval.given", "approval.refused", "approval.expired"):
            if asked is None or asked["approval"] != event["approval"]:
                raise BrokenPack(f"event {seq} answers an approval that was not asked for")
            given = (
                _add_approval_unless_token_made_by_asker(given, event, needs, askers)
                if kind == "approval.given"
                else []
            )
        elif kind == "action.applying":
            final = event["rule"] in careful or (needs.get("risk") or {}).get("irreversible")
            asks = request["mode"] == "review" or final or theirs
            people = max(needs.get("people", 0), bool(asks))
            if not allowed or request["mode"] == "dry-run" or len(given) < people:
                lacking = "the approval that it needs" if allowed else "the policy's leave"
                raise BrokenPack(f"event {seq} applies a change to {event['rule']} without {lacking}")
            journal = event["journal"]
        elif kind == "action.applied" and (event["journal"] != journal or (asked and asked["binds"] != bound)):
            raise BrokenPack(f"event {seq} applied another change than the one before it announced")
        elif kind in ("action.rolled_back", "item.passed"):
            journal = None
        elif kind.startswith(("item.", "run.finished", "run.stopped")) and journal is not None:
            raise BrokenPack(f"event {seq} goes on while a change is neither passed nor rolled back")


def _check_reboot_approval(events: Events) -> None:
    """Raise BrokenPack if a host that is not disposable was rebooted without the approval of exactly that."""
    request, asked, disposable = events[0][1], False, False
    askers = {one.casefold() for one in (request.get("by"), request.get("whose")) if one}
    policy: Object = {}
    needs: Object = {}
    given: list[set[str]] = []
    for _, event in events:
        kind, seq = event["kind"], event["seq"]
        if kind == "run.started":
            policy, disposable = event.get("approvals") or {}, event.get("disposable", False)
        elif kind == "approval.requested":
            given, asked = [], event.get("about") == "reboot"
            needs = _read_checked_needs(event, policy) if asked else {}
            parts = [request["host"].encode(), b"reboot", event.get("diff", "").encode()]
            if asked and event["binds"] != compute_sha256(b"\0".join(parts)):
                raise BrokenPack(f"the approval that event {seq} asks for is bound to another reboot")
        elif kind == "approval.given":
            given = _add_approval_unless_token_made_by_asker(given, event, needs, askers)
        elif kind == "reboot.announced" and not (disposable or (asked and len(given) >= max(needs["people"], 1))):
            raise BrokenPack(f"event {seq} reboots the host without the approval that it needs")


def _read_checked_needs(event: Object, policy: Object) -> Object:
    """Return the approvals that the event requires, after checking them against the rules at the run's start."""
    needs: Object = event.get("needs") or {}
    rules = [*policy.get("rules", []), {"line": policy.get("line"), "people": policy.get("otherwise")}]
    asked = {f"{policy.get('file')} line {rule['line']}": rule["people"] for rule in rules} if policy else {}
    given = needs.get("people"), needs.get("sha256", "")
    if policy and given != (asked.get(needs.get("by", ""), 1), policy["sha256"]):
        raise BrokenPack(f"event {event['seq']} asks for other people than {policy['file']} does, which the run uses")
    return needs


def _add_approval_unless_token_made_by_asker(
    people_by_approval: "list[set[str]]", event: Object, needs: Object, askers: "set[str]"
) -> "list[set[str]]":
    """Return `people_by_approval`, with the approver and who made their token if this approval counts.

    Where two people are required, only signed-in approvers count; a token that an asker made for somebody never does.
    """
    name, makers = event["by"].casefold(), {one.casefold() for one in event.get("made_by", [])}
    alone = needs.get("people", 1) < 2
    identified = alone or event.get("via") in ("session", "token")
    if not identified or (makers - {name}) & askers or any({name, *makers} & one for one in people_by_approval):
        return people_by_approval
    return [*people_by_approval, {name, *makers}]


def _check_papers(files: Files, events: Events, manifest: Object, key: str) -> None:
    """Raise BrokenPack if a paper contradicts the skill, the scans or the log about any rule."""
    rows = _build_expected_results(_read_verified_rulebook(files, events, manifest, key), events)
    played = _describe_simulation(events)
    if manifest["simulated"] != played:
        raise BrokenPack("manifest.json does not say what was simulated")
    about = {**{field: manifest[field] for field in ("run", "host", "as_of", "chain_head")}, "simulated": played}
    note = _build_expected_benchmark_and_tailoring_note(rows, events, files)
    comment = f"{f'SIMULATED: {played}. ' if played else ''}Temper run {about['run']}; chain head {about['chain_head']}"
    comment += f". {note}" if note else ""
    done = _read_checked_cklb_comments(json.loads(files["checklist.cklb"]), rows, (about["host"], comment))
    _check_same(
        "checklist.ckl",
        _read_ckl_asset_and_rows(_parse_xml(files, "checklist.ckl")),
        [(about["host"], comment), *_build_ckl_rows(rows, done)],
    )
    _check_results(files, "results.arf.xml", rows, about, _PHASES)
    if "results.xccdf.xml" in files:
        last = "opening" if events[0][1]["mode"] == "scan" else "closing"
        _check_results(files, "results.xccdf.xml", rows, about, (last,))
    about |= {"benchmark": note} if note else {}
    left = [row for row in rows if row["asked"] and row["status"] not in DONE]
    left.sort(key=lambda row: events[0][1]["rules"].index(row["id"]))
    _check_poam(files, left, done, about)
    if "poam.emass.csv" in files:
        _check_emass(files, left, done, about)
    if OSCAL & {*files}:
        if not {*files} >= OSCAL:
            raise BrokenPack("of the OSCAL papers, the pack has one without the other")
        _check_oscal(files, [next(row for row in rows if row["id"] == id_) for id_ in events[0][1]["rules"]], done)
    _check_report_readme_and_lineup(files, rows, events, about)
    _check_statement(files, manifest, rows, events[0][1]["rules"])
    if STAMP in files:
        read_stamp_time(files[STAMP], files["manifest.json"])
    if RECEIPT in files:
        read_unverified_external_log_answer(files[RECEIPT], files[ATTESTED])
    for row in rows:
        comment, waiver = done[row["id"]], row["waiver"]
        if (
            not _keep_ascii_before_first_control_character(comment).startswith(
                _keep_ascii_before_first_control_character(_describe_waiver(waiver))
            )
            if waiver
            else comment.startswith("WAIVED")
        ):
            raise BrokenPack(f"checklist.cklb does not say of {row['id']} what the log says of a waiver")
    if played and (odd := [rule for rule, text in done.items() if not text.endswith(f"SIMULATED: {played}.")]):
        raise BrokenPack(f"checklist.cklb does not say of {odd[0]} that it was SIMULATED")


def _read_verified_rulebook(files: Files, events: Events, manifest: Object, key: str) -> list[Object]:
    rules: list[Object] = json.loads(files["rules.json"])
    known = {rule["id"]: rule for rule in rules}
    if lacking := [rule for rule in events[0][1]["rules"] if rule not in known]:
        raise BrokenPack(f"rules.json has no {lacking[0]}, which the run was asked for")
    begun = next((event.get("rulebook", "") for _, event in events if event["kind"] == "run.started"), "")
    if begun not in ("", compute_sha256(files["rules.json"])) and not (key and manifest.get("rules") == "newer"):
        since = "; the pack says that the skill has changed since, which counts if it is signed: give --key"
        raise BrokenPack(
            f"rules.json is not what the run began with{since if manifest.get('rules') == 'newer' else ''}"
        )
    for _, event in events:
        rule = known.get(event.get("rule"), {})
        if event["kind"] == "item.started" and not begun and event["category"] != rule.get("category"):
            raise BrokenPack(f"rules.json gives {event['rule']} another category than the run took it for")
    return rules


INCOMPLETE = (
    "INCOMPLETE: no published benchmark was at hand when the run began. Rule ids have no revision, and CCIs, check "
    "texts and group titles of the STIG are missing."
)


def _build_expected_benchmark_and_tailoring_note(rows: list[Object], events: Events, files: Files) -> str:
    """Return the papers' note on the benchmark, tailoring and site values; the first versions wrote no note."""
    note = INCOMPLETE if "results.xccdf.xml" in files else ""
    if given := _read_published_benchmark(events):
        note = f"{len(given['rules'])} of {len(rows)} rules are named by {given['file']}, sha256 {given['sha256']}."
    if by := _find_start_field(events, "tailored"):
        left = f"Rules not applicable by tailoring: {len(by['left_out'])}."
        note += f" Tailored by {_describe_tailoring_file(by)}: profile {by['profile']}. {left}"
    if used := _find_start_field(events, "parameters"):
        note += f" Values that the site chose: {', '.join(one['name'] for one in used)}."
    return note


def _read_published_benchmark(events: Events) -> Object:
    return _find_start_field(events, "published") or {}


def _find_start_field(events: Events, field: str) -> Any:
    """Return a field of the run.started event; None if the event or the field is missing."""
    return next((event.get(field) for _, event in events if event["kind"] == "run.started"), None)


def _describe_tailoring_file(tailoring: Object) -> str:
    version = f", version {tailoring['version']}" if tailoring["version"] else ""
    return f"{tailoring['file']}{version}, sha256 {tailoring['sha256']}"


def _describe_parameters(rule: str, events: Events) -> str:
    """Return the site values that a rule used, one line each."""
    lines = ""
    for one in _find_start_field(events, "parameters") or []:
        value, digest_ = one["value"], one["sha256"]
        if compute_sha256(value.encode()) != digest_:
            raise BrokenPack(f"the site's value {one['name']} is not what its sha256 says")
        shown = value if len(value) <= 200 else f"{value[:200]}\u2026 (sha256 {digest_})"
        line = f"The site's value: {one['name']} = {' '.join(shown.split())}, set for {one['where']}."
        lines += f"\n{line}" if rule in one["rules"] else ""
    return lines


def _explain_exclusion_by_tailoring(rule: str, events: Events) -> str:
    """Return the reason that the run's tailoring excludes the rule; empty if it does not."""
    by = _find_start_field(events, "tailored")
    if not by or rule not in by["left_out"]:
        return ""
    return (
        f"Not applicable by tailoring: the profile {by['profile']} of "
        f"{_describe_tailoring_file(by)} leaves this rule out."
    )


def _get_rule_names(rule: Object, published_rule: Object) -> Object:
    """Return the rule's names from the run's benchmark, else from the skill."""
    id_ = f"S{rule['id']}" if rule["id"].startswith("V-") else rule["id"]
    texts = {"stig_id": "stig_id", "title": "title", "discussion": "requirement", "fix": "fix"}
    named = {name: published_rule.get(name) or rule[own] for name, own in texts.items()}
    return {
        **named,
        "group": published_rule.get("group", rule["id"]),
        "id": published_rule.get("id", id_),
        "ccis": published_rule.get("ccis", []),
    }


def _build_expected_results(rules: list[Object], events: Events) -> list[Object]:
    """Return the expected result of each rule of the skill."""
    request, end = events[0][1], events[-1][1]["kind"].partition(".")[2]
    scans: dict[str, dict[str, Object]] = {"opening": {}, "closing": {}}
    for _, event in events:
        if event["kind"] == "verdict" and event["phase"] in scans:
            scans[event["phase"]][event["rule"]] = event
    last = scans["opening" if request["mode"] == "scan" else "closing"]
    rebooted = any(event["kind"] == "reboot.returned" for _, event in events)
    when = "After the run and its reboot" if rebooted else "After the run"
    known, rows = {one["rule"]: one for one in _read_published_benchmark(events).get("rules", [])}, []
    for rule in rules:
        opening, closing = scans["opening"].get(rule["id"]), last.get(rule["id"])
        asked = rule["id"] in request["rules"]
        after = f"{when}, {_format_scanner_verdict(closing)}" if closing else _UNSCANNED.format(end)
        found = after + (f"\nBefore the run, {_format_scanner_verdict(opening)}" if opening else "")
        found += _describe_parameters(rule["id"], events)
        apart = _explain_exclusion_by_tailoring(rule["id"], events)
        row = {"asked": asked, "found": found if asked else apart or f"Not part of run {request['run']}."}
        status = STATUS.get(closing["word"], "not_reviewed") if closing else "not_reviewed"
        status = "not_applicable" if apart else status
        row |= {"closing": closing, "apart": apart}
        row |= {"opening": opening, "scans": (opening, scans["closing"].get(rule["id"])), "status": status}
        row["waiver"] = _get_waiver_or_empty(rule["id"], events) if asked and status not in DONE else {}
        named = _get_rule_names(rule, known.get(rule["id"], {}))
        rows.append({**rule, **row, "named": named, "severity": SEVERITY[rule["category"]]})
    return rows


def _get_waiver_or_empty(rule: str, events: Events) -> Object:
    """Return the rule's waiver on the day on which the run ended; empty if there is none."""
    given: list[Object] = next((event.get("waivers", []) for _, event in events if event["kind"] == "run.started"), [])
    known = [one for one in given if one["rule"] == rule and events[-1][1]["at"][:10] < one["until"]]
    return max(known, key=lambda one: one["until"], default={})


def _describe_waiver(waiver: Object) -> str:
    """Return the papers' text of a waiver. A waived finding is still a finding."""
    scope = waiver["scope"]
    where = "every host" if scope["kind"] == "all" else f"{scope['kind']} {scope['name']}"
    ticket = f", ticket {waiver['ticket']}" if waiver["ticket"] else ""
    sentence = f"WAIVED until {waiver['until']} on {where}, owner {waiver['owner']}{ticket}: {waiver['reason']}"
    return f"{sentence.rstrip('.')}. The rule does not hold, and from that day on the finding counts as open again."


_UNSCANNED = "There was no closing scan: the run {} before it. The status is open to review."


def _format_scanner_verdict(verdict: Object) -> str:
    line = f" line {verdict['line']}" if verdict.get("line") else ""
    path, evidence = verdict.get("path"), verdict["evidence"]
    place = f" ({path}{line})" if path and path not in evidence else ""
    return f"scanner {verdict['scanner']} says {verdict['word']}: {evidence}{place}"


def _keep_ascii_before_first_control_character(text: str) -> str:
    """Reduce text to its ASCII part before the first control character, since papers clean the rest differently."""
    plain = re.split("[\0-\x08\x0b-\x1f\x7f-\x9f]", text.replace("\r\n", "\n"), maxsplit=1)[0]
    return "".join(one for one in plain[:20_000] if " " <= one <= "~").strip()


def _replace_by_expected_if_matching(actual: str, expected: str) -> str:
    """Return `expected` if the paper's text matches it, else the paper's text.

    Of hostile text the papers leave characters out, and put none in.
    """
    hostile = re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", expected.replace("\r\n", "\n")) or len(expected) > 20_000
    here, there = (
        _keep_ascii_before_first_control_character(actual),
        _keep_ascii_before_first_control_character(expected),
    )
    if here == there or (hostile and here.startswith(there) and _is_subsequence(here, expected)):
        return expected
    return actual


def _is_subsequence(text: str, whole_text: str) -> bool:
    """Return True if `whole_text` becomes `text` by leaving characters out."""
    characters = iter(whole_text)
    return all(one in characters for one in text)


def _describe_simulation(events: Events) -> str:
    """Return the simulated parts of the run as papers name them. Logs without the field predate hosts over SSH."""
    started = next((event for _, event in events if event["kind"] == "run.started"), None)
    host = started is not None and started.get("simulated") is not False
    words = ["the engines"] * bool(events[0][1]["simulated"]) + ["the host, by a tree of real files"] * host
    return " and ".join(words)


_CKLB = (
    *("group_id", "rule_version", "rule_title", "severity", "status", "overrides"),
    *("fix_text", "discussion", "rule_id_src", "ccis"),
)


def _read_checked_cklb_comments(
    checklist: Object, rows: list[Object], host_and_comment: tuple[str, str]
) -> dict[str, str]:
    """Check the checklist and return its comment on each rule."""
    (stig,) = checklist["stigs"]
    findings = {row["named"]["group"]: row["found"] for row in rows}
    actual = [
        (
            *(rule[field] for field in _CKLB),
            _replace_by_expected_if_matching(rule["finding_details"], findings.get(rule["group_id"], "")),
        )
        for rule in stig["rules"]
    ]
    names, rest = ("group", "stig_id", "title"), ("fix", "discussion", "id", "ccis")
    expected = [
        (
            *(row["named"][f] for f in names),
            *(row["severity"], row["status"], {}),
            *(row["named"][f] for f in rest),
            row["found"],
        )
        for row in rows
    ]
    target = checklist["target_data"]
    _check_same(
        "checklist.cklb",
        [_read_asset_host_comment_and_extras(target, "host_name", "comments"), *actual],
        [host_and_comment, *expected],
    )
    return {row["id"]: rule["comments"] for row, rule in zip(rows, stig["rules"])}


_PLAIN = ("", "None", "Computing", "false", False, None)


def _read_asset_host_comment_and_extras(asset_fields: Object, host_field: str, comment_field: str) -> "tuple[Any, ...]":
    """Return host and comment of a checklist's asset, and whatever else it claims, such as an address."""
    rest = {
        name: value
        for name, value in asset_fields.items()
        if name not in (host_field, comment_field) and value not in _PLAIN
    }
    return (asset_fields[host_field], asset_fields[comment_field], *rest.items())


def _parse_xml(files: Files, name: str) -> ET.Element:
    if not files[name].startswith(b'<?xml version="1.0" encoding="UTF-8"?>') or b"<!" in files[name]:
        raise BrokenPack(f"{name} declares what Temper never does")
    return ET.fromstring(files[name])  # noqa: S314  plain UTF-8 without a declaration: nothing to expand


_CKL = ("Vuln_Num", "Rule_ID", "Rule_Ver", "Rule_Title", "Fix_Text", "Vuln_Discuss", "Severity")
_OF_A_RULE = ("group", "id", "stig_id", "title", "fix", "discussion")


def _read_ckl_asset_and_rows(root: ET.Element) -> list[tuple[str, ...]]:
    asset = {one.tag: one.text or "" for one in root.iterfind("ASSET/*")}
    rows: list[tuple[str, ...]] = [_read_asset_host_comment_and_extras(asset, "HOST_NAME", "TARGET_COMMENT")]
    for vuln in root.iter("VULN"):
        pairs = [(one.findtext("VULN_ATTRIBUTE", ""), one.findtext("ATTRIBUTE_DATA", "")) for one in vuln]
        given = {name: text for name, text in pairs if name}
        rest = ("STATUS", "FINDING_DETAILS", "COMMENTS", "SEVERITY_OVERRIDE")
        texts = (*(given.get(name, "") for name in _CKL), *(vuln.findtext(tag, "") for tag in rest))
        ccis = " ".join(text for name, text in pairs if name == "CCI_REF")
        rows.append(tuple(_keep_ascii_before_first_control_character(text) for text in (*texts, ccis)))
    return rows


def _build_ckl_rows(rows: list[Object], comments: dict[str, str]) -> list[tuple[str, ...]]:
    names = [(*(row["named"][f] for f in _OF_A_RULE), row["severity"]) for row in rows]
    states = [CKL_STATUS.get(row["status"], "Not_Reviewed") for row in rows]
    ccis = [" ".join(row["named"]["ccis"]) for row in rows]
    more = [(state, row["found"], comments[row["id"]], "", of) for row, state, of in zip(rows, states, ccis)]
    return [
        tuple(_keep_ascii_before_first_control_character(text) for text in (*one, *rest))
        for one, rest in zip(names, more)
    ]


def _build_idref(row: Object) -> str:
    id_ = row["named"]["id"]
    if re.fullmatch(r"SV-\d+r\d+_rule", id_, re.ASCII):
        return f"xccdf_mil.disa.stig_rule_{id_}"
    return "xccdf_temper_rule_" + re.sub(r"[^A-Za-z0-9_.-]", "-", row["id"])


_ASSETS = "{http://scap.nist.gov/schema/asset-reporting-format/1.1}assets"


def _check_results(files: Files, name: str, rows: list[Object], run_facts: Object, phases: "tuple[str, ...]") -> None:
    root, space = _parse_xml(files, name), "{http://checklists.nist.gov/xccdf/1.2}"
    results = [one for one in root.iter() if one.tag.endswith("TestResult")]
    named = [text.strip() for one in root.iter(_ASSETS) for text in one.itertext() if text.strip()]
    _check_same(name, named, [run_facts["host"]] if name == "results.arf.xml" else [])
    _check_same(
        name, [one.get("id") for one in results], [f"xccdf_temper_testresult_{run_facts['run']}.{p}" for p in phases]
    )
    for phase, result in zip(phases, results):
        words = [row["scans"][_PHASES.index(phase)] for row in rows]
        actual = [
            (
                one.get("idref"),
                one.get("severity"),
                *(child.text for child in one if child.tag in (f"{space}result", f"{space}ident")),
                [
                    _keep_ascii_before_first_control_character(child.text or "")
                    for child in one
                    if child.tag == f"{space}message"
                ],
            )
            for one in result
            if one.tag == f"{space}rule-result"
        ]
        expected = [
            (
                _build_idref(row),
                row["severity"],
                word["word"] if word else "notchecked" if row["asked"] else "notselected",
                row["id"],
                row["named"]["stig_id"],
                *row["named"]["ccis"],
                _list_messages(row, word),
            )
            for row, word in zip(rows, words)
        ]
        _check_same(name, actual, expected)
        given = [word for word in words if word]
        passed, most = str(sum(word["word"] == "pass" for word in given)), str(len(given))
        score = [(one.text, one.get("maximum")) for one in result.iter(f"{space}score")]
        _check_same(name, score, [(passed, most)])
        where = [one.text for one in result if one.tag.startswith(f"{space}target") and not len(one)]
        _check_same(name, where, [run_facts["host"]])
        played = [one.text for one in result.iter(f"{space}remark") if (one.text or "").startswith("SIMULATED")]
        _check_same(name, played, [f"SIMULATED: {run_facts['simulated']}."] if run_facts["simulated"] else [])


def _list_messages(row: Object, verdict: Object) -> "list[str]":
    """Return the expected messages of a result, the waiver first."""
    word = verdict["word"] if verdict else "notchecked"
    waived = [_describe_waiver(row["waiver"])] if row["waiver"] and word not in ("pass", "notapplicable") else []
    apart = [row["apart"]] if row["apart"] else []
    return [
        _keep_ascii_before_first_control_character(text)
        for text in (*waived, *apart, *([_format_scanner_verdict(verdict)] if verdict else []))
    ]


_PHASES = ("opening", "closing")


def _check_poam(files: Files, open_rows: list[Object], comments: dict[str, str], run_facts: Object) -> None:
    plan = json.loads(files["poam.json"])
    items = plan.pop("items")
    _check_same("poam.json", [plan], [run_facts])
    same = {"severity": "severity", "risk_of_remedy": "breaks", "checklist_status": "status"}
    named = {"rule": "group", "stig_id": "stig_id", "weakness": "title", "remedy": "fix"}
    empty = dict.fromkeys(("scheduled_completion", "responsible", "milestones"), "")
    expected = [
        {**{one: row[field] for one, field in same.items()}, **{one: row["named"][f] for one, f in named.items()}}
        for row in open_rows
    ]
    for item, wanted, row in zip(items, expected, open_rows):
        verdict = row["closing"] or row["opening"]
        wanted |= {"host": run_facts["host"], "source": verdict["scanner"] if verdict else "", **empty}
        wanted["status"] = "Risk Accepted" if row["waiver"] else "Ongoing"
        if "rule_id" in item:
            wanted |= {"rule_id": row["named"]["id"], "ccis": " ".join(row["named"]["ccis"])}
        wanted |= {
            "evidence": _replace_by_expected_if_matching(item["evidence"], row["found"]),
            "tried": comments[row["id"]],
        }
        wanted |= {field: item[field] for field in ("identified", "why_open")}
    _check_same("poam.json", items, [dict(sorted(one.items())) for one in expected])
    rows = list(csv.DictReader(io.StringIO(files["poam.csv"].decode("utf-8-sig"), newline="")))
    _check_same(
        "poam.csv",
        [{k: v[v.startswith("'") and v != item[k] :] for k, v in row.items()} for row, item in zip(rows, items)]
        + rows[len(items) :],
        items,
    )


def _check_emass(files: Files, open_rows: list[Object], comments: dict[str, str], run_facts: Object) -> None:
    text, name = files["poam.emass.csv"].decode("utf-8-sig"), "poam.emass.csv"
    fields = ("Security Checks", "Status", "Raw Severity", "Devices Affected", "Recommendations", "Comments")
    actual = [[row[field] for field in fields] for row in csv.DictReader(io.StringIO(text, newline=""))]
    expected = [
        (
            "\n".join((row["named"]["id"], row["named"]["group"], *row["named"]["ccis"])),
            "Risk Accepted" if row["waiver"] else "Ongoing",
            row["category"],
            run_facts["host"],
            row["named"]["fix"],
            f"{comments[row['id']]}\n{row['found']}",
        )
        for row in open_rows
    ]
    wanted = [[_reduce_cell_to_short_comparable_ascii(cell) for cell in row] for row in expected]
    reduced = [
        [_to_comparable_ascii_without_formula_quote(cell, there) for cell, there in zip(row, wanted_row)]
        for row, wanted_row in zip(actual, wanted)
    ]
    _check_same(name, reduced + actual[len(wanted) :], wanted)


def _reduce_cell_to_short_comparable_ascii(cell: str) -> str:
    return _keep_ascii_before_first_control_character(cell)[:1500]


def _to_comparable_ascii_without_formula_quote(cell: str, wanted: str) -> str:
    """Reduce a cell, without the quote that keeps a spreadsheet from reading a formula; a text's own quote stays."""
    reduced = _reduce_cell_to_short_comparable_ascii(cell)
    return _reduce_cell_to_short_comparable_ascii(cell[1:]) if cell.startswith("'") and reduced != wanted else reduced


def _check_oscal(files: Files, requested_rows: list[Object], comments: dict[str, str]) -> None:
    """Raise BrokenPack if an OSCAL paper contradicts the rows in names, results, risks or observations."""
    (result,) = json.loads(files["results.oscal.json"])["assessment-results"]["results"]
    plan = json.loads(files["poam.oscal.json"])["plan-of-action-and-milestones"]
    left = [row for row in requested_rows if row["status"] not in DONE]
    findings = [
        (one["target"]["target-id"], *one["target"]["status"].values(), one["props"][0]["value"], one["description"])
        for one in result["findings"]
    ]
    expected = [_build_oscal_finding(row, comments[row["id"]]) for row in requested_rows]
    _check_same("results.oscal.json", findings, expected)
    risks = [
        (_format_published_rule_id(row), "deviation-approved" if row["waiver"] else "open", comments[row["id"]])
        for row in left
    ]
    for name, where in (("results.oscal.json", result), ("poam.oscal.json", plan)):
        given = [(one["props"][1]["value"], one["status"], one["statement"]) for one in where.get("risks", [])]
        _check_same(name, given, risks)
    items = [(one["props"][0]["value"], one["description"]) for one in plan["poam-items"] if "props" in one]
    _check_same("poam.oscal.json", items, [(_format_published_rule_id(row), comments[row["id"]]) for row in left])
    for name, where, rows in (("results.oscal.json", result, requested_rows), ("poam.oscal.json", plan, left)):
        seen = [
            _keep_ascii_before_first_control_character(one["description"])[:15_000]
            for one in where.get("observations", [])
        ]
        _check_same(name, seen, [_keep_ascii_before_first_control_character(row["found"])[:15_000] for row in rows])


def _build_oscal_finding(row: Object, comment: str) -> "tuple[str, ...]":
    word = row["closing"]["word"] if row["closing"] else "notchecked"
    state = "satisfied" if row["status"] in DONE else "not-satisfied"
    return _build_idref(row), state, word if word in ("pass", "fail") else "other", word, comment


def _format_published_rule_id(row: Object) -> str:
    return " ".join(str(row["named"]["id"]).split())


def _check_report_readme_and_lineup(files: Files, rows: list[Object], events: Events, run_facts: Object) -> None:
    """Raise BrokenPack if the report, README.txt or lineup.json contradicts the log, as far as can be checked."""
    played = f"SIMULATED: {run_facts['simulated']}." if run_facts["simulated"] else ""
    text = files["report.html"].decode()
    shown = " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())
    for name, seen in (("report.html", shown), ("README.txt", " ".join(files["README.txt"].decode().split()))):
        if run_facts["chain_head"] not in seen or run_facts["run"] not in seen:
            raise BrokenPack(f"{name} is that of another run")
        if played not in seen:
            raise BrokenPack(f"{name} does not say that the run was SIMULATED")
    if re.search(r"<(script|iframe|object|embed|link|base|form)|\son\w+\s*=|javascript:", text, re.IGNORECASE):
        raise BrokenPack("report.html would run or fetch something")
    for row in (row for row in rows if row["asked"]):
        before = row["opening"]["word"] if row["opening"] else "\u2014"
        line = (
            row["id"],
            row["stig_id"],
            row["severity"],
            row["title"],
            before,
            SHOWN.get(row["status"], "not reviewed"),
        )
        if " ".join(" ".join(line).split()) not in shown:
            raise BrokenPack(f"report.html does not say of {row['id']} what the scans said")
    lineup, started = json.loads(files["lineup.json"]), [e for _, e in events if e["kind"] == "run.started"]
    fields = {**events[0][1], **(started[0] if started else {}), "simulated": events[0][1]["simulated"]}
    for field in ("lineup", "simulated", "pace", "temper", "scanner", "confinement"):
        if lineup[field] != fields.get(field, lineup[field]):
            raise BrokenPack(f"lineup.json gives another {field} than the run began with")
    seats = started[0].get("seats", []) if started else []
    both = zip(lineup["seats"], seats)
    _check_same("lineup.json", [{**seat, **one} for seat, one in both] + seats[len(lineup["seats"]) :], lineup["seats"])


def _check_same(name: str, actual: list[Any], expected: list[Any]) -> None:
    if actual != expected:
        odd = next((one for one in [*actual, *expected] if one not in actual or one not in expected), "the order")
        raise BrokenPack(f"{name} does not say what the run and its rules say: see {odd}"[:400])


def open_pack(path: Path) -> Files:
    if path.is_dir():
        return {one.relative_to(path).as_posix(): one.read_bytes() for one in path.rglob("*") if one.is_file()}
    return unpack_zip_packed_by_temper(path.read_bytes())


def parse_positionals_and_key(arguments: "list[str]") -> "tuple[list[str], str]":
    """Return PACK and HEAD, as far as given, and KEY. Raise BadArguments for anything that is not understood."""
    plain: list[str] = []
    keys: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--key" or word.startswith("--key="):
            keys.append((word[6:] if "=" in word else next(rest, "")).lower())
        elif word.startswith("-") or not word:
            raise BadArguments(f"there is no option {word[:60]!a}")
        else:
            plain.append(word)
    if len(plain) > 2 or len(keys) > 1:
        raise BadArguments("there is one PACK, one HEAD and one KEY at most")
    for name, one in [*(("HEAD", head.lower()) for head in plain[1:]), *(("KEY", key) for key in keys)]:
        if not re.fullmatch("[0-9a-f]{64}", one):
            raise BadArguments(f"{name} has 64 hexadecimal digits, and {one[:80]!a} is none")
    return plain, "".join(keys)


def main(arguments: "list[str]") -> int:
    try:
        plain, key = parse_positionals_and_key(arguments)
    except BadArguments as exc:
        sys.stderr.write(f"{exc}\nusage: python3 -I verify.py [PACK [HEAD]] [--key KEY]\n")
        return USAGE
    try:
        files = open_pack(Path(plain[0]) if plain else Path(__file__).resolve().parent)
        head = "".join(plain[1:]).lower()
        manifest = check_pack_and_get_manifest(files, head, key)
        lines = [f"holds: run {manifest['run']}, {manifest['events']} events, {len(files)} files"]
        lines += [f"chain head {manifest['chain_head']}", f"manifest sha256 {compute_sha256(files['manifest.json'])}"]
        lines += [*list_signer_and_unverified_claims(manifest, head, key), *list_proof_explanations(files, manifest)]
        code = HOLDS if key else UNPINNED
    except (BrokenPack, OSError) as exc:
        lines, code = [f"does not hold: {exc}"], BROKEN
    sys.stdout.writelines("".join(one if one.isprintable() else "?" for one in line) + "\n" for line in lines)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
