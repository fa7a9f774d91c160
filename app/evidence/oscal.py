"""OSCAL 1.1 papers: assessment results, and a plan of action and milestones."""

import json
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from app.events.record import stamp
from app.evidence.account import done, found
from app.evidence.case import Case, Judged
from app.evidence.status import SEVERITY, status
from app.evidence.xccdf import idref
from app.text.clean import clean
from app.text.clean_line import clean_line

VERSION = "1.1.3"
NS = "urn:temper:oscal"
Said = dict[str, Any]
_DONE = ("not_a_finding", "not_applicable")
_LONGEST = 50_000


def oscal_results(case: Case) -> bytes:
    """Return the assessment results: observation and finding of the last scan for each requested rule."""
    scan = "opening" if case.request.mode == "scan" else "closing"
    result = {
        "uuid": _uuid(case, "result"),
        "title": f"Temper run {case.run}",
        "description": _prose(case.published.told),
        "start": stamp(case.state.started_at or case.queued_at),
        "end": stamp(case.scanned.get(scan, case.state.at)),
        "local-definitions": {"inventory-items": [_host(case)]},
        "reviewed-controls": {"control-selections": [{"include-all": {}}]},
        "observations": [_observation(case, one, scan) for one in case.asked],
        "findings": [_finding(case, one) for one in case.asked],
    }
    if left := _left(case):
        result["risks"] = [_risk(case, one) for one in left]
    plan = {"uuid": _uuid(case, "plan"), "description": f"The order of Temper run {case.run}: see events.jsonl."}
    said = {
        "uuid": _uuid(case, "results"),
        "metadata": _metadata(case, f"Assessment results of {case.request.host}"),
        "import-ap": {"href": f"#{plan['uuid']}"},
        "results": [result],
        "back-matter": {"resources": [plan]},
    }
    return _json({"assessment-results": said})


def oscal_poam(case: Case) -> bytes:
    """Return the plan of the open rules. OSCAL requires an item, so an empty plan has one that says so."""
    left, scan = _left(case), "opening" if case.request.mode == "scan" else "closing"
    said: Said = {
        "uuid": _uuid(case, "poam"),
        "metadata": _metadata(case, f"Plan of action and milestones of {case.request.host}"),
        "system-id": {"identifier-type": NS, "id": _line(case.request.host)},
        "local-definitions": {"inventory-items": [_host(case)]},
    }
    if left:
        said["observations"] = [_observation(case, one, scan) for one in left]
        said["risks"] = [_risk(case, one) for one in left]
        said["poam-items"] = [_item(case, one) for one in left]
    else:
        nothing = f"Every rule that run {case.run} was asked for holds or does not apply."
        said["poam-items"] = [
            {"uuid": _uuid(case, "nothing"), "title": "Nothing is left to do", "description": nothing}
        ]
    return _json({"plan-of-action-and-milestones": said})


def _metadata(case: Case, title: str) -> Said:
    played = f"SIMULATED: {case.simulated}. " if case.simulated else ""
    return {
        "title": clean_line(title, 300),
        "last-modified": stamp(case.state.at),
        "version": case.run,
        "oscal-version": VERSION,
        "props": [_prop("run", case.run), _prop("chain-head", case.head)],
        "remarks": _prose(f"{played}Temper run {case.run}; chain head {case.head}. {case.published.told}"),
    }


def _host(case: Case) -> Said:
    return {
        "uuid": _uuid(case, "host"),
        "description": _prose(case.request.host),
        "props": [{"name": "asset-id", "value": _line(case.request.host)}],
    }


def _observation(case: Case, one: Judged, scan: str) -> Said:
    return {
        "uuid": _uuid(case, f"seen {one.rule.id}"),
        "title": _line(one.named.id),
        "description": found(case, one),
        "methods": ["TEST"],
        "subjects": [{"subject-uuid": _uuid(case, "host"), "type": "inventory-item"}],
        "collected": stamp(case.scanned.get(scan, case.state.at)),
    }


def _finding(case: Case, one: Judged) -> Said:
    """Return the finding of a rule. An undecided rule is not satisfied, with the scanner's word as a property."""
    word = one.closing.word if one.closing else "notchecked"
    state = {
        "state": "satisfied" if status(one.closing) in _DONE else "not-satisfied",
        "reason": word if word in ("pass", "fail") else "other",
    }
    said: Said = {
        "uuid": _uuid(case, f"finding {one.rule.id}"),
        "title": _prose(one.named.title),
        "description": done(case, one),
        "props": [_prop("result", word), *_names(one)],
        "target": {"type": "objective-id", "target-id": idref(one), "status": state},
        "related-observations": [{"observation-uuid": _uuid(case, f"seen {one.rule.id}")}],
    }
    if state["state"] == "not-satisfied":
        said["related-risks"] = [{"risk-uuid": _uuid(case, f"risk {one.rule.id}")}]
    return said


def _risk(case: Case, one: Judged) -> Said:
    waiver, fix = one.waiver, _prose(one.named.fix)
    said: Said = {
        "uuid": _uuid(case, f"risk {one.rule.id}"),
        "title": _prose(one.named.title),
        "description": _prose(one.named.discussion),
        "statement": done(case, one),
        "props": [_prop("severity", SEVERITY[one.rule.category]), *_names(one)],
        "status": "deviation-approved" if waiver else "open",
        "remediations": [
            {
                "uuid": _uuid(case, f"fix {one.rule.id}"),
                "lifecycle": "recommendation",
                "title": "The STIG's fix",
                "description": fix,
            }
        ],
        "related-observations": [{"observation-uuid": _uuid(case, f"seen {one.rule.id}")}],
    }
    if waiver:
        entry: Said = {
            "uuid": _uuid(case, f"waiver {waiver.id}"),
            "title": f"Waiver {waiver.id}",
            "description": waiver.told,
            "start": waiver.since,
            "end": f"{waiver.until}T00:00:00Z",
            "status-change": "deviation-approved",
        }
        said |= {"deadline": f"{waiver.until}T00:00:00Z", "risk-log": {"entries": [entry]}}
    return said


def _item(case: Case, one: Judged) -> Said:
    return {
        "uuid": _uuid(case, f"item {one.rule.id}"),
        "title": _prose(one.named.title),
        "description": done(case, one),
        "props": _names(one),
        "related-observations": [{"observation-uuid": _uuid(case, f"seen {one.rule.id}")}],
        "related-risks": [{"risk-uuid": _uuid(case, f"risk {one.rule.id}")}],
    }


def _left(case: Case) -> list[Judged]:
    return [one for one in case.asked if status(one.closing) not in _DONE]


def _names(one: Judged) -> list[Said]:
    return [
        _prop("rule-id", one.named.id),
        _prop("group-id", one.named.group),
        *(_prop("cci", c) for c in one.named.ccis),
    ]


def _prop(name: str, value: str) -> Said:
    return {"name": name, "ns": NS, "value": _line(value)}


def _line(text: str) -> str:
    """Return text as the single non-empty line that OSCAL strings require."""
    return clean_line(text, 300).strip() or "none"


def _prose(text: str) -> str:
    return clean(text, _LONGEST) or "none"


def _uuid(case: Case, of: str) -> str:
    """Return a UUID derived from the run, so that equal runs give equal files."""
    return str(uuid5(NAMESPACE_URL, f"temper:{case.run}:{case.head}:oscal {of}"))


def _json(said: Said) -> bytes:
    return json.dumps(said, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
