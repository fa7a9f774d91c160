"""What the script expects a paper to say, and what it forgives: text that a paper had to clean or cut off."""

import base64
import json

import pytest

from app.evidence import verify
from app.evidence.pack import build_pack, build_signed_envelope
from app.evidence.verify import (
    BrokenPack,
    check_pack_and_get_manifest,
    compute_sha256,
    unpack_zip_packed_by_temper,
    verify_ed25519,
)
from tests.evidence.logs import plain_log
from tests.evidence.played import KEY
from tests.evidence.test_verify import FORGERS
from tests.evidence.waived import OTHER, RULE

WORDS = {RULE: "fail", OTHER: "fail"}
LONG = "a" * 20_000


@pytest.fixture(scope="module")
def files():
    return unpack_zip_packed_by_temper(build_pack(plain_log(WORDS, WORDS), KEY))


@pytest.mark.parametrize(
    ("actual", "expected", "matches"),
    [
        ("the same", "the same", True),
        (" the same\r\n", "the same", True),
        ("ber", "\u00fcber", True),
        ("the same and more", "the same", False),
        ("cut off here", "cut\x07 off there", True),
        ("cute", "cut\x07 off there", True),
        ("cu", "cut\x07 off there", False),
        ("cut and forged", "cut\x07 off there", False),
        ("red", "\x1b[31mred", True),
        ("a forged text", "\x1b[31mred", False),
        ("cut\x85", "cut\x85 off", True),
        (LONG, f"{LONG}b", True),
        (f"{LONG}... cut", f"{LONG}b", True),
        (f"{LONG[1:]}b", f"{LONG}b", False),
        ("", "something", False),
    ],
)
def test_a_text_matches_where_it_is_the_same_or_hostile_and_cut_off(actual, expected, matches):
    assert verify._replace_by_expected_if_matching(actual, expected) == (expected if matches else actual)


def note(**fields):
    return {"kind": "run.started", **fields}


def as_log(*events):
    queued = {"kind": "run.queued", "run": "r", "mode": "auto", "rules": ["A"], "simulated": False, "host": "h"}
    return [(b"", {"at": "2026-11-28T10:00:00Z", **event}) for event in (queued, *events)]


def test_a_log_without_a_start_says_nothing_of_a_simulated_host():
    assert verify._describe_simulation(as_log()) == ""
    assert verify._describe_simulation(as_log(note())) == "the host, by a tree of real files"


def test_a_value_of_the_site_is_in_the_papers_of_its_rules_and_is_what_its_digest_says():
    value = {"name": "banner", "value": "x" * 201, "where": "web", "rules": ["A"], "sha256": compute_sha256(b"x" * 201)}
    log = as_log(note(parameters=[value]))
    shown = f"\nThe site's value: banner = {'x' * 200}\u2026 (sha256 {value['sha256']}), set for web."
    assert (verify._describe_parameters("A", log), verify._describe_parameters("B", log)) == (shown, "")
    short = {**value, "value": "a \n b", "sha256": compute_sha256(b"a \n b")}
    assert verify._describe_parameters("A", as_log(note(parameters=[short]))) == (
        "\nThe site's value: banner = a b, set for web."
    )
    with pytest.raises(BrokenPack, match="the site's value banner is not what its sha256 says"):
        verify._describe_parameters("B", as_log(note(parameters=[{**value, "value": "y"}])))


SKILL = {"category": "II", "stig_id": "S", "title": "T", "requirement": "R", "fix": "F"}
TAILORED = {"left_out": ["B"], "profile": "p", "file": "t.xml", "version": "3", "sha256": "d"}


def verdict(rule, word, phase="closing", **fields):
    return {"kind": "verdict", "phase": phase, "rule": rule, "word": word, "scanner": "s", "evidence": "e", **fields}


def test_what_a_run_did_not_ask_for_is_said_to_be_left_out_or_no_part_of_it():
    rules = [{"id": one, **SKILL} for one in "ABC"]
    events = (note(tailored=TAILORED), verdict("A", "fail", "opening"), verdict("A", "pass", path="/x", line=3))
    rows = verify._build_expected_results(rules, as_log(*events, {"kind": "run.finished"}))
    assert [row["found"] for row in rows] == [
        "After the run, scanner s says pass: e (/x line 3)\nBefore the run, scanner s says fail: e",
        "Not applicable by tailoring: the profile p of t.xml, version 3, sha256 d leaves this rule out.",
        "Not part of run r.",
    ]
    assert [row["status"] for row in rows] == ["not_a_finding", "not_applicable", "not_reviewed"]


@pytest.mark.parametrize(
    ("until", "asked", "word", "waived"),
    [
        ("2026-11-29", "A", "fail", True),
        ("2026-11-28", "A", "fail", False),
        ("2026-12-01", "A", "pass", False),
        ("2026-12-01", "B", "fail", False),
    ],
)
def test_a_waiver_counts_for_an_open_finding_that_was_asked_for_until_its_day(until, asked, word, waived):
    waiver = {"rule": "A", "until": until}
    log = as_log(note(waivers=[waiver, {"rule": "C", "until": "2027-01-01"}]), verdict("A", word))
    log[0][1]["rules"] = [asked]
    [row] = verify._build_expected_results([{"id": "A", **SKILL}], [*log, (b"", {**log[0][1], "kind": "run.finished"})])
    assert row["waiver"] == (waiver if waived else {})


def test_a_statement_is_strict_base64_and_signed_by_the_key_that_it_names(files):
    envelope = json.loads(files[verify.ATTESTED])
    payload = base64.b64decode(envelope["payload"])
    theirs = json.loads(build_signed_envelope(payload, FORGERS))
    theirs["signatures"][0]["keyid"] = KEY.public
    with pytest.raises(BrokenPack, match="is not signed by the key that the manifest names"):
        check_pack_and_get_manifest({**files, verify.ATTESTED: json.dumps(theirs).encode()})
    [signature] = envelope["signatures"]
    for odd in (
        {"payload": f"{envelope['payload'][:8]}!{envelope['payload'][8:]}"},
        {"signatures": [{**signature, "sig": f"!{signature['sig']}"}]},
    ):
        with pytest.raises(BrokenPack, match="not of the shape that Temper writes"):
            check_pack_and_get_manifest({**files, verify.ATTESTED: json.dumps({**envelope, **odd}).encode()})


NEUTRAL, OPPOSITE = ((y).to_bytes(32, "little") for y in (1, verify.FIELD - 1))


@pytest.mark.parametrize(
    ("first", "scalar", "holds"),
    [
        (NEUTRAL, 0, True),
        (NEUTRAL, verify.ORDER - 1, False),
        (NEUTRAL, verify.ORDER, False),
        (NEUTRAL, verify.ORDER + 1, False),
        (OPPOSITE, 0, False),
    ],
)
def test_a_signature_has_one_spelling_and_both_coordinates_count(first, scalar, holds):
    """With the neutral element as the key, the equation is left to the signature alone."""
    assert verify_ed25519(NEUTRAL, first + scalar.to_bytes(32, "little"), b"anything") == holds
