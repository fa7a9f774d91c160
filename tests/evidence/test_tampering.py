"""Twenty-four ways to tamper with a pack, and what the offline script alone says of each.

Whoever tampers knows the manifest, mends it and signs it by a key of his own: the script is given no key, but for the
last two. docs/evidence.md has the table.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.evidence import verify
from app.evidence.pack import build_pack
from app.evidence.verify import build_zip_chunks_with_part_names, unpack_zip_packed_by_temper
from tests.evidence.logs import chain
from tests.evidence.played import KEY
from tests.evidence.test_forgeries import as_json, everywhere, put
from tests.evidence.test_verify import listed_anew, zipped
from tests.evidence.waived import waived_log

DOCS = Path(__file__).parents[2] / "docs" / "evidence.md"
LOG = waived_log()
CHECKLISTS = ("checklist.cklb", "checklist.ckl")
WORDS = (*CHECKLISTS, "poam.json", "poam.csv", "poam.emass.csv", "results.oscal.json", "poam.oscal.json")
EVERY = (*WORDS, "results.arf.xml", "results.xccdf.xml", "report.html")


def lines(change):
    """The events and their hashes, cut alike."""

    def made(files):
        cut = {name: b"".join(change(files[name].splitlines(True))) for name in ("events.jsonl", "chain.txt")}
        return {**files, **cut}

    return made


def one_more(files):
    last = json.loads(files["events.jsonl"].splitlines()[-1])
    more = json.dumps({**last, "seq": last["seq"] + 1, "passed": 30}).encode() + b"\n"
    return {**files, "events.jsonl": files["events.jsonl"] + more, "chain.txt": files["chain.txt"] + b"0" * 64 + b"\n"}


def closed(plan):
    for risk in plan["plan-of-action-and-milestones"]["risks"]:
        risk["status"] = "closed"


def satisfied(said):
    for finding in said["assessment-results"]["results"][0]["findings"]:
        finding["target"]["status"]["state"] = "satisfied"


def fewer_rows(files):
    rows = files["poam.emass.csv"].split(b"\r\n")
    return {**files, "poam.emass.csv": b"\r\n".join(rows[:1] + rows[-1:])}


def another_model(lineup):
    lineup["seats"][0]["model"] = "a larger one"


@dataclass(frozen=True)
class Tampering:
    made: Callable[[dict[str, bytes]], dict[str, bytes]]
    said: str
    words: tuple[str, ...] = ()
    """What the script is given beside the pack."""
    raw: Callable[[bytes], bytes] = lambda archive: archive


HEAD = (LOG[-1].hash,)
TAMPERINGS = {
    "a verdict in the log changed": Tampering(
        put("events.jsonl", (b'"word":"fail"', b'"word":"pass"')), "event 3 is not what was recorded"
    ),
    "an event dropped": Tampering(lines(lambda rows: rows[:3] + rows[4:]), "event 4 is not what was recorded"),
    "an event added": Tampering(one_more, "event 12 is not what was recorded"),
    "the end of the log cut off": Tampering(lines(lambda rows: rows[:-1]), "the manifest says events"),
    "the whole log replaced": Tampering(
        lambda _: unpack_zip_packed_by_temper(build_pack(chain([one.event for one in LOG], run="0a1b2c3e"), KEY)),
        "this is another log",
        HEAD,
    ),
    "open changed to no finding in the CKLB": Tampering(
        put("checklist.cklb", (b'"status": "open"', b'"status": "not_a_finding"')), "checklist.cklb does not say"
    ),
    "open changed to no finding in the CKL": Tampering(
        put("checklist.ckl", (b"<STATUS>Open<", b"<STATUS>NotAFinding<")), "checklist.ckl does not say"
    ),
    "fail changed to pass in the XCCDF results": Tampering(
        put("results.xccdf.xml", (b">fail<", b">pass<")), "results.xccdf.xml does not say"
    ),
    "fail changed to pass in the ARF": Tampering(
        put("results.arf.xml", (b">fail<", b">pass<")), "results.arf.xml does not say"
    ),
    "a finding marked as satisfied in OSCAL": Tampering(
        as_json("results.oscal.json", satisfied), "results.oscal.json does not"
    ),
    "a risk closed in OSCAL's plan": Tampering(as_json("poam.oscal.json", closed), "poam.oscal.json does not say"),
    "every row of the plan's table closed": Tampering(
        everywhere(b",Ongoing,", b",Completed,", "poam.csv"), "poam.csv does not say"
    ),
    "rows removed from eMASS' table": Tampering(fewer_rows, "poam.emass.csv does not say"),
    "open changed to no finding in the report": Tampering(
        put(
            "report.html",
            (b'word open" data-name="After">open', b'word not_a_finding" data-name="After">not a finding'),
        ),
        "report.html does not say",
    ),
    "a category lowered in the rules": Tampering(
        put("rules.json", (b'"category": "I"', b'"category": "III"')), "does not say|another category"
    ),
    "a waiver extended in every document": Tampering(
        everywhere(b"WAIVED until 2026-12-24", b"WAIVED until 2036-12-24", *EVERY), "does not say"
    ),
    "a waiver invented for a finding": Tampering(
        everywhere(b"Run 0a1b2c3d on web-1, mode auto: not", b"WAIVED: not", *WORDS), "what the log says of a waiver"
    ),
    "a larger model named in the line-up": Tampering(as_json("lineup.json", another_model), "lineup.json does not say"),
    "a diff added and listed": Tampering(
        lambda files: {**files, "diffs/000001-V-1-1.diff": b"+PermitRootLogin no\n"}, "is not what the events say"
    ),
    "a file added and listed": Tampering(
        lambda files: {**files, "approval.txt": b"All of it.\n"}, "is not what the events say"
    ),
    "a script added to the report": Tampering(
        put("report.html", (b"</body>", b"<script>1</script></body>")), "would run or fetch something"
    ),
    "bytes added after the archive": Tampering(
        dict, "bytes follow the end of the archive", raw=lambda archive: archive + b"\0"
    ),
    "a sentence of the readme changed": Tampering(
        lambda files: {**files, "README.txt": files["README.txt"] + b"No need to check it.\n"},
        "not by the one that you gave",
        (*HEAD, "--key", KEY.public),
    ),
    "no change, but signed by another key": Tampering(
        dict, "not by the one that you gave", (*HEAD, "--key", KEY.public)
    ),
}


@pytest.fixture(scope="module")
def files():
    return unpack_zip_packed_by_temper(build_pack(LOG, KEY))


@pytest.mark.parametrize("name", TAMPERINGS)
def test_the_script_alone_finds_it(files, tmp_path, capsys, name):
    how = TAMPERINGS[name]
    made = how.made(dict(files))
    assert made != files or "made" not in name
    (tmp_path / "evidence.zip").write_bytes(how.raw(zipped(listed_anew(made))))
    assert verify.main([str(tmp_path / "evidence.zip"), *how.words]) == 1
    said = capsys.readouterr().out
    assert said.startswith("does not hold: ")
    assert re.search(how.said, said), said
    assert "a verdict" in name or "signed by" not in said or "--key" in how.words


def test_what_nobody_touched_holds_and_says_what_is_proved(files, tmp_path, capsys):
    (tmp_path / "evidence.zip").write_bytes(b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(files)))
    assert verify.main([str(tmp_path / "evidence.zip"), *HEAD, "--key", KEY.public]) == 0
    said = capsys.readouterr().out
    for word in ("the chain proves", "not what was seen", "the signature proves", "no time stamp"):
        assert word in said


def test_the_documents_have_them_all():
    assert len(TAMPERINGS) >= 20
    told = DOCS.read_text()
    assert [name for name in TAMPERINGS if f"| {name} |" not in told] == []
