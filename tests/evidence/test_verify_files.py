"""File by file: what the script reads out of a log, which signatures it accepts, and what else of a pack it reads."""

import base64
import json

import pytest

from app.evidence import verify
from app.evidence.pack import build_pack, build_signed_envelope
from app.evidence.verify import (
    BrokenPack,
    build_plain_files,
    check_pack_and_get_manifest,
    check_signature,
    unpack_zip_packed_by_temper,
)
from tests.evidence.logs import chain, finished, plain_log, queued, scoped, started, verdicts
from tests.evidence.played import KEY
from tests.evidence.test_verify import FORGERS, listed_anew
from tests.evidence.waived import OTHER, RULE, waived_log

WORDS = {RULE: "fail", OTHER: "fail"}


@pytest.fixture(scope="module")
def files():
    return unpack_zip_packed_by_temper(build_pack(plain_log(WORDS, WORDS), KEY))


def refuse(files, **said):
    """Return what is said of the files once they are listed and signed anew by the Temper that the log names."""
    with pytest.raises(BrokenPack) as caught:
        check_pack_and_get_manifest(listed_anew(files, KEY, **said))
    return str(caught.value)


TURN = {"turn": "t", "rule": "A", "attempt": 2, "role": "worker", "purpose": "act", "at": "NOON"}
BEGUN = {
    **TURN,
    "kind": "turn.started",
    "seq": 7,
    "engine": "big",
    "replica": 1,
    "model": "m",
    "prompt": ["SYS", "ASK"],
}
ENDED = {**TURN, "kind": "turn.finished", "seq": 8, "outcome": "answered", "detail": "", "thought": "T", "answer": "A"}
CUT = {**TURN, "kind": "turn.interrupted", "seq": 8, "reason": "a crash"}


def read(*events):
    return build_plain_files([(json.dumps(one).encode(), one) for one in events])


@pytest.mark.parametrize(
    ("end", "outcome", "thought", "answer"),
    [
        ([ENDED], "answered", "T", "A"),
        ([{**ENDED, "outcome": "broken", "detail": "no JSON"}], "broken no JSON", "T", "A"),
        ([CUT], "a crash", "", ""),
        ([], "left open", "", ""),
        ([{**ENDED, "turn": "another"}], "left open", "", ""),
    ],
)
def test_a_turn_reads_as_a_conversation(end, outcome, thought, answer):
    text = read(BEGUN, *end)["turns/000007-A-2-worker-act.txt"].decode()
    assert text == (
        "=== turn\nworker, act: A attempt 2, NOON\n\n=== engine\nbig, replica 2, model m\n\n"
        f"=== outcome\n{outcome}\n\n=== told by the system\nSYS\n\n=== told\nASK\n\n"
        f"=== thought\n{thought}\n\n=== answer\n{answer}\n\n"
    )


def test_each_kind_of_event_is_in_its_extract_and_each_change_is_a_diff():
    said = {one: {"kind": one} for one in ("action.allowed", "approval.given", "scan.started", "verdict", "run.paused")}
    applied = {**TURN, "kind": "action.applied", "seq": 12, "diff": "+x\n"}
    found = read(*said.values(), applied)
    assert found.pop("diffs/000012-A-2.diff") == b"+x\n"
    lines = {name: [json.loads(line)["kind"] for line in text.splitlines()] for name, text in found.items()}
    assert lines == {
        "actions.jsonl": ["action.allowed", "action.applied"],
        "approvals.jsonl": ["approval.given"],
        "verdicts.jsonl": ["scan.started", "verdict"],
    }


def test_the_first_byte_that_is_not_as_it_was_packed_is_named(files):
    archive = b"".join(chunk for _, chunk in verify.build_zip_chunks_with_part_names(files))
    assert unpack_zip_packed_by_temper(archive) == files
    second, directory = archive.index(b"PK\3\4", 1), archive.index(b"PK\1\2")
    for at in (4, 10, second + 4, second + 8, second + 13, directory + 4, directory + 45, len(archive) - 1):
        altered = bytearray(archive)
        altered[at] ^= 1
        with pytest.raises(BrokenPack, match=f"is not as it was packed; byte {at} of the archive shows it"):
            unpack_zip_packed_by_temper(bytes(altered))


def test_a_part_that_files_and_manifest_both_lack_is_missed(files):
    for part in ("poam.json", "verify.py", "approvals.jsonl"):
        assert f"{part} is missing" in refuse({name: one for name, one in files.items() if name != part})


MANIFEST = b'{"format": "f"}'
SIGNED = {"manifest.json": MANIFEST, "manifest.sig": f"{KEY.sign(verify.SEALED + MANIFEST)}\n".encode()}
OLD, NEW = ({"format": one} for one in verify.FORMATS[:2])
BY = {"key": KEY.public}


@pytest.mark.parametrize(
    ("files", "manifest", "key", "told"),
    [
        (SIGNED, {**NEW, **BY}, "", ""),
        (SIGNED, {**NEW, **BY}, KEY.public, ""),
        (SIGNED, {**NEW, **BY}, FORGERS.public, "and not by the one that you gave"),
        (SIGNED, {**NEW, "key": FORGERS.public}, "", "is not what was signed"),
        (SIGNED, NEW, "", "not the signature of a key that the manifest names"),
        (SIGNED, {**NEW, "key": KEY.public.upper()}, "", "not the signature of a key that the manifest names"),
        ({**SIGNED, "manifest.sig": SIGNED["manifest.sig"][:-1]}, {**NEW, **BY}, "", "not the signature of a key"),
        ({**SIGNED, "manifest.json": MANIFEST + b" "}, {**NEW, **BY}, "", "is not what was signed"),
        ({"manifest.json": MANIFEST}, OLD, "", ""),
        (SIGNED, OLD, "", "not the signature of a key that the manifest names"),
        ({"manifest.json": MANIFEST}, OLD, KEY.public, "it is not signed: the key that you gave vouches for nothing"),
        ({"manifest.json": MANIFEST}, NEW, "", "not the signature of a key that the manifest names"),
        ({"manifest.json": MANIFEST}, {**OLD, **BY}, "", "not the signature of a key that the manifest names"),
    ],
)
def test_a_manifest_is_signed_by_the_key_that_it_names_and_in_the_first_format_by_none(files, manifest, key, told):
    if told:
        with pytest.raises(BrokenPack, match=told):
            check_signature(files, manifest, key)
    else:
        check_signature(files, manifest, key)


@pytest.mark.parametrize(
    ("y", "odd", "is_point"),
    [
        (1, 0, True),
        (1, 1, False),
        (verify.FIELD - 1, 0, True),
        (verify.FIELD - 1, 1, False),
        (verify.FIELD, 0, False),
        (verify.FIELD + 1, 0, False),
        (2, 0, False),
        (0, 0, True),
        (0, 1, True),
        (3, 0, True),
        (3, 1, True),
    ],
)
def test_only_the_one_spelling_of_a_point_of_the_curve_is_a_key(y, odd, is_point):
    """Of zero there is no odd root, and a number beyond the field is another spelling of a small one."""
    point = verify._decode_point_if_valid((y | odd << 255).to_bytes(32, "little"))
    assert (point is not None) == is_point
    if point:
        x, same, one, product = point
        assert (same, one, product) == (y, 1, x * y % verify.FIELD)
        assert x % 2 == odd
        left, right = (y * y - x * x) % verify.FIELD, (1 + verify.CURVE * x * x * y * y) % verify.FIELD
        assert left == right, "x and y are on the curve"


def state_anew(files, change):
    """The in-toto statement, changed and signed by the key of the pack."""
    envelope = json.loads(files[verify.ATTESTED])
    statement = json.loads(base64.b64decode(envelope["payload"]))
    change(statement)
    return {**files, verify.ATTESTED: build_signed_envelope(json.dumps(statement).encode(), KEY)}


STATEMENTS = {
    "the host": lambda one: one["predicate"].update(host="other"),
    "the line-up": lambda one: one["predicate"]["lineup"].update(lineup="other"),
    "who made it": lambda one: one["predicate"].update(made_by="other"),
    "more than that": lambda one: one["predicate"].update(more=1),
    "the kind": lambda one: one.update(predicateType="other"),
    "the type": lambda one: one.update(_type="other"),
    "another file": lambda one: one["subject"][0].update(name="other"),
    "another digest": lambda one: one["subject"][0]["digest"].update(sha256="0" * 64),
    "a rule less": lambda one: one["predicate"]["rules"].pop(),
    "the group of a rule": lambda one: one["predicate"]["rules"][0].update(group="other"),
    "the verdict before": lambda one: one["predicate"]["rules"][0].update(before="pass"),
    "the verdict after": lambda one: one["predicate"]["rules"][0].update(after="pass"),
    "a waiver": lambda one: one["predicate"]["rules"][0].update(waived=True),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_that_says_anything_else_than_the_pack_is_refused(files, name):
    with pytest.raises(BrokenPack, match=r"statement\.json states something else than the pack"):
        check_pack_and_get_manifest(state_anew(files, STATEMENTS[name]))


def test_a_statement_is_signed_by_the_packs_own_key_and_only_older_formats_have_none(files):
    check_pack_and_get_manifest(state_anew(files, lambda _: None))
    envelope = json.loads(files[verify.ATTESTED])
    for change in ({"payloadType": "other"}, {"payload": base64.b64encode(b"{}").decode()}):
        with pytest.raises(BrokenPack, match=r"statement\.json"):
            check_pack_and_get_manifest({**files, verify.ATTESTED: json.dumps({**envelope, **change}).encode()})
    theirs = build_signed_envelope(base64.b64decode(envelope["payload"]), FORGERS)
    with pytest.raises(BrokenPack, match="is not signed by the key that the manifest names"):
        check_pack_and_get_manifest({**files, verify.ATTESTED: theirs})
    bare = {name: one for name, one in files.items() if name != verify.ATTESTED}
    with pytest.raises(BrokenPack, match="is not signed by the key that the manifest names"):
        check_pack_and_get_manifest(bare)
    check_pack_and_get_manifest(listed_anew(bare, KEY, format=verify.FORMATS[1]))


def test_a_waived_rule_is_waived_in_the_statement_and_one_that_was_never_scanned_has_no_word():
    log = waived_log()
    assert check_pack_and_get_manifest(unpack_zip_packed_by_temper(build_pack(log, KEY)), log[-1].hash, KEY.public)
    unscanned = unpack_zip_packed_by_temper(build_pack(plain_log(WORDS), KEY))
    statement = json.loads(base64.b64decode(json.loads(unscanned[verify.ATTESTED])["payload"]))
    assert {(one["before"], one["after"]) for one in statement["predicate"]["rules"]} == {("fail", "")}
    check_pack_and_get_manifest(unscanned)


def put(name, was, becomes):
    def made(files):
        assert was in files[name]
        return {**files, name: files[name].replace(was, becomes)}

    return made


def put_another_head(name):
    def made(files):
        head = files["chain.txt"].split()[-1]
        return put(name, head, head[::-1])(files)

    return made


def set_lineup(**fields):
    return lambda files: {**files, "lineup.json": json.dumps({**json.loads(files["lineup.json"]), **fields}).encode()}


HARMFUL = (
    "<script>1</script>",
    "<iframe>",
    "<object>",
    "<embed>",
    "<link>",
    "<base>",
    "<form>",
    "<b onclick='x'>",
    "<a href='JavaScript:x'>",
)
READABLE = {
    "the run of the report": (put("report.html", b"0a1b2c3d", b"0a1b2c3e"), "report.html is that of another run"),
    "the chain head of the report": (put_another_head("report.html"), "report.html is that of another run"),
    "the chain head in the readme": (put_another_head("README.txt"), "README.txt is that of another run"),
    "the run in the readme": (put("README.txt", b"0a1b2c3d", b"0a1b2c3e"), "README.txt is that of another run"),
    "a title in the report": (put("report.html", b">open<", b">not a finding<"), "does not say of V-25798"),
    **{
        f"{harm} in the report": (
            put("report.html", b"</body>", harm.encode() + b"</body>"),
            "report.html would run or fetch something",
        )
        for harm in HARMFUL
    },
    **{
        f"another {field}": (
            set_lineup(**{field: "other"}),
            f"lineup.json gives another {field} than the run began with",
        )
        for field in ("lineup", "simulated", "pace", "temper", "scanner", "confinement")
    },
    "no seat": (set_lineup(seats=[]), "lineup.json does not say"),
}


@pytest.mark.parametrize("name", READABLE)
def test_what_people_read_says_what_the_log_says(files, name):
    change, told = READABLE[name]
    assert told in refuse(change(files))


def test_where_the_run_was_simulated_every_paper_for_people_says_so():
    log = plain_log(WORDS, WORDS, simulated=True)
    played = unpack_zip_packed_by_temper(build_pack(log, KEY))
    check_pack_and_get_manifest(played)
    for name in ("report.html", "README.txt"):
        changed = put(name, b"SIMULATED: the engines", b"SIMULATED: an engine")(played)
        assert f"{name} does not say that the run was SIMULATED" in refuse(changed)
    assert "manifest.json does not say what was simulated" in refuse(played, simulated="")


@pytest.mark.parametrize(
    ("engines", "begun", "played"),
    [
        (False, {"simulated": False}, ""),
        (True, {"simulated": False}, "the engines"),
        (False, {"simulated": True}, "the host, by a tree of real files"),
        (True, {"simulated": True}, "the engines and the host, by a tree of real files"),
        (False, {"simulated": None}, "the host, by a tree of real files"),
    ],
)
def test_what_was_simulated_is_named_in_the_manifest(engines, begun, played):
    log = plain_log(WORDS, WORDS, simulated=engines, begun=begun)
    assert check_pack_and_get_manifest(unpack_zip_packed_by_temper(build_pack(log, KEY)))["simulated"] == played


def test_a_log_whose_events_claim_to_be_others_is_refused():
    log = chain([queued(WORDS), started(), *verdicts("opening", WORDS), scoped(WORDS), finished()])
    files = {
        "events.jsonl": b"".join(one.line + b"\n" for one in log),
        "chain.txt": b"".join(one.hash.encode() + b"\n" for one in log),
    }
    manifest = {"run": "0a1b2c3d", "host": "web-1", "events": len(log), "chain_head": log[-1].hash}
    manifest["as_of"] = json.loads(log[-1].line)["at"]
    assert len(verify.read_events_except_deltas(files, manifest, log[-1].hash)) == len(log)
    for changed, head, told in (
        ({**manifest, "run": "0a1b2c3e"}, "", "event 1 says of itself that it is another"),
        ({**manifest, "host": "web-2"}, "", "the manifest says host web-2, and the events say web-1"),
        ({**manifest, "events": 3}, "", f"the manifest says events 3, and the events say {len(log)}"),
        (manifest, "0" * 64, f"the chain head is {log[-1].hash}, not {'0' * 64}: this is another log"),
    ):
        with pytest.raises(BrokenPack, match=told):
            verify.read_events_except_deltas(files, changed, head)
    with pytest.raises(BrokenPack, match=f"there are {len(log)} events and more hashes"):
        verify.read_events_except_deltas({**files, "chain.txt": files["chain.txt"] + b"x"}, manifest, "")
    short = {**files, "events.jsonl": b"".join(one.line + b"\n" for one in log[:-1])}
    short["chain.txt"] = b"".join(one.hash.encode() + b"\n" for one in log[:-1])
    early = {**manifest, "events": len(log) - 1, "chain_head": log[-2].hash, "as_of": json.loads(log[-2].line)["at"]}
    with pytest.raises(BrokenPack, match=r"the events end with run\.scoped: the run has not ended"):
        verify.read_events_except_deltas(short, early, "")


@pytest.mark.parametrize(
    ("words", "plain", "key"),
    [
        ([], [], ""),
        (["a"], ["a"], ""),
        (["a", "F" * 64], ["a", "F" * 64], ""),
        (["--key", "F" * 64], [], "f" * 64),
        (["a", f"--key={'f' * 64}", "0" * 64], ["a", "0" * 64], "f" * 64),
    ],
)
def test_a_pack_a_head_and_a_key_are_told_apart(words, plain, key):
    assert verify.parse_positionals_and_key(words) == (plain, key)


@pytest.mark.parametrize(
    "words",
    [
        ["-h"],
        ["--keys", "f" * 64],
        [""],
        ["a", "b", "c"],
        ["a", "f" * 63],
        ["--key"],
        ["--key", "g" * 64],
        ["--key="] * 2,
    ],
)
def test_words_that_are_not_understood_verify_nothing_and_are_answered_with_the_usage(words, capsys):
    with pytest.raises(verify.BadArguments):
        verify.parse_positionals_and_key(words)
    assert verify.main(words) == verify.USAGE
    assert "usage: python3 -I verify.py" in capsys.readouterr().err
