"""One page, closed in itself: it runs nothing and fetches nothing, whatever a host or a model wrote."""

import re
from html.parser import HTMLParser

from app.events.event_field_types import SetOption
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionProposed,
    ActionsAllowed,
    ApprovalGiven,
    ApprovalRequested,
    AttemptStarted,
    ItemPassed,
    ItemStarted,
    PlanMade,
    RebootChecked,
)
from app.evidence.report import build_report, parse_diff_lines
from tests.evidence.logs import plain_case

RULE = "V-257984"
EVIL = "<script>alert(1)</script><img src=http://evil/x onerror=a>\x1b[2J\u202e"


class Elements(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def at():
    return {"rule": RULE, "attempt": 1}


def reviewed():
    plan = PlanMade(**at(), approach=EVIL, paths=("/etc/x",), steps=(), risk=EVIL, rollback="", validation="")
    action = SetOption(path="/etc/x", key="k", value="</code><script>")
    return [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(**at(), lessons=()),
        plan,
        ActionProposed(**at(), actions=(action,), note=EVIL, fingerprint="f", diff=f"+{EVIL}\n-old"),
        ActionsAllowed(**at()),
        ApprovalRequested(approval=f"r.{RULE}.1.9", **at(), binds="b" * 64, expires=9e9, diff=""),
        ApprovalGiven(approval=f"r.{RULE}.1.9", by=f"eve{EVIL}", reason=EVIL),
        ActionApplying(**at(), journal="j"),
        ActionApplied(**at(), journal="j", diff=f"+++ b/etc/x\n+{EVIL}\n-old\n same", changes=(), seconds=0.1),
        ItemPassed(rule=RULE, attempts=1),
    ]


def test_it_stands_alone(case):
    page = build_report(case).decode()
    seen = Elements(page)
    assert not {"script", "img", "link", "iframe", "object", "embed", "form", "base"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href", "srcset")]
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "@media print" in style
    assert "url(" not in style
    assert "@import" not in style


def test_hostile_text_is_shown_and_never_markup():
    page = build_report(plain_case({RULE: "fail"}, {RULE: "pass"}, between=reviewed(), host=EVIL, note=EVIL)).decode()
    seen = Elements(page)
    assert not {"script", "img"} & set(seen.tags)
    assert "<script>alert(1)</script>" in "".join(seen.text)
    assert not re.search("[\x1b\u202e]", page)


def test_what_an_auditor_looks_for_is_there(case):
    text = " ".join(" ".join(Elements(build_report(case).decode()).text).split())
    assert "SIMULATED: the engines and the host, by a tree of real files." in text
    assert f"Chain head {case.head}" in text
    assert "4 not a finding 2 open 0 not applicable 0 not reviewed 6 rules asked for" in text
    assert "Before scanner built-in says fail" in text
    assert "After scanner built-in says pass" in text
    assert "set_option path=/etc/ssh/sshd_config key=PermitEmptyPasswords value=no" in text
    assert "-PermitEmptyPasswords yes +PermitEmptyPasswords no" in text
    assert "Sentry alarm by probe" in text
    assert "Refused by policy (protected identity" in text
    assert "asked for the run in mode auto" in text
    assert "nvfp4, vLLM 0.19.0" in text


def test_approvals_are_there_with_who_and_why():
    text = "".join(Elements(build_report(plain_case({RULE: "fail"}, {RULE: "pass"}, between=reviewed())).decode()).text)
    assert "approved by eve" in text
    assert f"Approval bound to {'b' * 64}" in text


def test_a_run_that_failed_says_so_and_passes_nothing():
    text = "".join(Elements(build_report(plain_case({RULE: "pass"}, None)).decode()).text)
    assert "the disk is full" in text
    assert "1 not reviewed" in " ".join(text.split())


def test_a_real_run_carries_no_simulated_label():
    case = plain_case({RULE: "pass"}, {RULE: "pass"})
    assert "SIMULATED" not in build_report(case).decode()


def test_lines_of_a_diff():
    kinds = [line.kind for line in parse_diff_lines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same")]
    assert kinds == ["", "", "", "removed", "added", ""]


def test_a_line_of_a_file_that_looks_like_a_header_is_one_of_the_file():
    one = "diff a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n--- a note\n+++ b/etc/other\n"
    kinds = [line.kind for line in parse_diff_lines(one.format("x") + one.format("y"))]
    assert kinds == ["", "", "", "", "removed", "added"] * 2


def test_a_look_after_a_reboot_is_told():
    found = RebootChecked(of="r1", boot_before="a", boot_now="b", rebooted=True, slipped=("V-257984",))
    page = build_report(plain_case({"V-257984": "fail"}, between=[found], mode="scan")).decode()
    assert "the host rebooted since run r1. no longer hold: V-257984." in page
