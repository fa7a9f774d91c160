"""One example answer per purpose, about a rule that no skill has, so that copied answers are obvious."""

import json
from typing import Any

from app.events.vocabulary import Purpose

_REQUIREMENT = "The server has to write down who logs in: LogLevel has to be VERBOSE."
_FILE = "/etc/ssh/sshd_config"
_SET = {"do": "set_option", "path": _FILE, "key": "LogLevel", "value": "VERBOSE"}
_RELOAD = {"do": "reload", "service": "sshd"}

_ASKED: dict[Purpose, str] = {
    "plan": f"Requirement: {_REQUIREMENT}\nScanner: {_FILE} line 21 sets LogLevel to 'INFO'; VERBOSE is wanted.",
    "act": f"Requirement: {_REQUIREMENT}\nFiles you may touch: {_FILE}",
    "review": f"Requirement: {_REQUIREMENT}\nScanner: pass, {_FILE} line 21 sets LogLevel to 'VERBOSE'."
    "\nChange: -LogLevel INFO +LogLevel VERBOSE",
    "triage": "Probes: every one is ok\nDrift: none\nChange: -LogLevel INFO +LogLevel VERBOSE"
    "\nLog: sshd: Accepted publickey for ana",
    "reflect": f"Requirement: {_REQUIREMENT}\nWhat failed: scanner: {_FILE} line 4 sets LogLevel to 'INFO'.",
}
_ANSWERED: dict[Purpose, dict[str, Any]] = {
    "plan": {
        "approach": "Line 21 of sshd_config decides: set LogLevel to VERBOSE there.",
        "paths": [_FILE],
        "steps": ["Set LogLevel to VERBOSE", "Reload sshd"],
        "risk": "The log grows faster.",
        "rollback": "Restore sshd_config.",
        "validation": "sshd reads LogLevel VERBOSE first.",
    },
    "act": {"actions": [_SET, _RELOAD], "note": "One line changed."},
    "review": {
        "explanation": "LogLevel is VERBOSE in the file, as the requirement wants.",
        "veto": False,
        "reason": "",
    },
    "triage": {
        "assessment": "Every probe is ok and the log shows an ordinary login.",
        "alarm": False,
        "reason": "",
    },
    "reflect": {
        "mechanism": "sshd keeps the first value, and line 4 stands ahead of the line that was added.",
        "environment": "LogLevel stands twice in sshd_config.",
        "advice": "Change line 4, which is in force.",
        "decision": "CONTINUE",
        "reason": "The line that decides is known now.",
    },
}
_GUIDED: dict[Purpose, dict[str, Any]] = {
    "plan": {name: _ANSWERED["plan"][name] for name in ("approach", "paths")},
    "act": {"actions": [_SET], "reload": "sshd"},
    "review": {name: _ANSWERED["review"][name] for name in ("explanation", "veto")},
    "triage": {name: _ANSWERED["triage"][name] for name in ("assessment", "alarm")},
    "reflect": {name: _ANSWERED["reflect"][name] for name in ("mechanism", "advice", "decision")},
}


def format_example(purpose: Purpose, *, guided: bool) -> str:
    answer = (_GUIDED if guided else _ANSWERED)[purpose]
    return f"Example, of another rule:\n{_ASKED[purpose]}\nAnswer: {json.dumps(answer)}"
