"""Scripts and styles use what Firefox ESR 128 has: a shared file is opened wherever its reader is.

No parser of JavaScript is among the tests' tools, so this is a list: what came to Firefox later, or never did.
"""

import re

import pytest

from app.config import PACKAGE

SYNTAX = {
    "using declarations": r"\b(?:await )?using [A-Za-z_$][\w$]* =",
    "decorators": r"^\s*@[A-Za-z_$][\w$.]*(?:\(|\s*$)",
    "import attributes": r"\bfrom \"[^\"]+\" with\b|\bimport\([^)]*, \{ with",
    "deferred imports": r"\bimport defer\b",
    "regular expressions with modifiers": r"\(\?[ims]+(?:-[ims]+)?:",
}
INTERFACES = {
    "iterator helpers": r"\bIterator\.|\.(?:keys|values|entries)\(\)\.(?:map|filter|take|drop|flatMap|toArray)\(",
    "Promise.try": r"\bPromise\.try\b",
    "RegExp.escape": r"\bRegExp\.escape\b",
    "bytes to base64 and hex": r"\.(?:toBase64|setFromBase64|toHex|setFromHex)\(\)|Uint8Array\.from(?:Base64|Hex)\b",
    "Float16": r"\bFloat16Array\b|Math\.f16round",
    "Temporal": r"\bTemporal\.",
    "Math.sumPrecise": r"Math\.sumPrecise",
    "view transitions": r"startViewTransition",
    "moveBefore": r"\.moveBefore\(",
    "invoker commands": r"commandfor|\.commandForElement|closedby",
    "the cookie store": r"\bcookieStore\b",
    "scheduler": r"\bscheduler\.(?:yield|postTask)",
    "URLPattern": r"\bURLPattern\b",
    "trusted types": r"\btrustedTypes\b",
    "the file system's pickers": r"\bshow(?:Open|Save|Directory)(?:File)?Picker\b",
    "user agent hints": r"\buserAgentData\b",
    "network and device hints": r"navigator\.(?:connection|deviceMemory|keyboard|usb|serial|hid|bluetooth)\b",
    "idle detection": r"\bIdleDetector\b",
    "long tasks and layout shifts": r"\"(?:longtask|layout-shift|long-animation-frame)\"",
    "sanitizers": r"\.setHTML(?:Unsafe)?\(|\bSanitizer\b",
}
STYLES = {
    "anchors": r"\banchor-name\b|\bposition-(?:anchor|try|area)\b",
    "starting styles": r"@starting-style",
    "scroll timelines": r"\b(?:animation|scroll|view)-timeline\b",
    "scopes": r"@scope\b",
    "field sizing": r"\bfield-sizing\b",
    "sizes that interpolate": r"\binterpolate-size\b|\bcalc-size\(",
    "pretty wrapping": r"text-wrap(?:-style)?: pretty",
    "conditions and functions": r"@function\b|: if\(",
    "view transitions": r"\bview-transition-name\b",
    "reading order": r"\breading-(?:flow|order)\b",
}
SCRIPTS, SHEETS = (sorted((PACKAGE / "static").glob(kind)) for kind in ("*.js", "*.css"))


def find_late_features(text, features):
    return [name for name, pattern in features.items() if re.search(pattern, text, re.MULTILINE)]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_uses_nothing_that_firefox_lacks(path):
    assert find_late_features(path.read_text(), SYNTAX | INTERFACES) == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_style_sheet_uses_nothing_that_firefox_lacks(path):
    assert find_late_features(path.read_text(), STYLES) == []


@pytest.mark.parametrize(
    ("text", "late"),
    [
        ("using file = open();", "using declarations"),
        ('import words from "./words.json" with { type: "json" };', "import attributes"),
        ("const first = rows.values().map((one) => one.at);", "iterator helpers"),
        ("document.startViewTransition(draw);", "view transitions"),
        ("const found = /(?i:web)/.test(name);", "regular expressions with modifiers"),
    ],
)
def test_what_came_later_is_found(text, late):
    assert find_late_features(text, SYNTAX | INTERFACES) == [late]
