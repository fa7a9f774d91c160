"""Patterns that no configuration line may contain, each with the policy clause that refuses it.

The grammar of each subject refuses these lines too; the patterns name the clause for the log and for the model.
"""

import re

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("network", r"/dev/(?:tcp|udp)/|\b(?:curl|wget|ncat|netcat|socat|telnet|tftp|ftpget)\b|\bnc\s+-|\bssh\s+-"),
    ("obfuscation", r"`|\$\(|\$\{|<\(|\beval\b|\bbase(?:32|64)\b|\bxxd\b|\\x[0-9a-fA-F]{2}|\\[0-7]{3}|\bIFS\b"),
    ("obfuscation", r"\|\s*(?:/\S*/)?(?:env\s+)?(?:ba|z|da|k|c|tc|fi)?sh\b|\bprintf\b|\brev\b\s*\|"),
    (
        "obfuscation",
        r"\b(?:python|perl|ruby|node|php|lua|awk|sh|bash)[0-9.]*\s+-[a-z]*[ce]\b|\bsource\s|(?:^|;)\s*\.\s",
    ),
    ("persistence", r"\b(?:crontab|systemd-run|nohup|setsid|disown)\b|\bat\s+now\b|@reboot|&\s*$"),
    (
        "privilege",
        r"\bLD_(?:PRELOAD|LIBRARY_PATH|AUDIT)\b|\bBASH_ENV\b|\bPROMPT_COMMAND\b|\bchmod\s+[ug+]*[4267]?s|\bsetcap\b",
    ),
    ("privilege", r"\bpam_(?:exec|script|python)\b"),
    (
        "destruction",
        r"\brm\s+-|\bmkfs|\bdd\s+(?:if|of)=|\bshred\b|\bwipefs\b|:\(\)\s*\{|\breboot\b|\bpoweroff\b|\binit\s+[06]\b",
    ),
    (
        "evidence tampering",
        r"\bauditctl\b|\bsetenforce\b|\bhistory\s+-c|\bHISTFILE\b|\btruncate\b|\bservice\s+auditd\b",
    ),
    ("protected identity", r"\b(?:useradd|usermod|userdel|passwd|chpasswd|visudo|gpasswd)\s"),
    ("protected identity", r"\bssh-(?:rsa|ed25519|dss)\s+AAAA|\becdsa-sha2-\S+\s+AAAA"),
    ("protected identity", r"\bsystemctl\s+(?:stop|disable|mask)\b"),
)
_MODELINE = re.compile(r"(?:^|\s)(?:[Vv]im?[<=>]?[0-9]{0,4}|ex):\s*(?:set?\s|[a-z]+[=:])|-\*-|\bLocal Variables:")
_COMPILED = tuple((clause, re.compile(pattern)) for clause, pattern in _PATTERNS)


def has_modeline(line: str) -> bool:
    """Return True if the line is a modeline, which an editor executes even in a comment."""
    return _MODELINE.search(line) is not None


def find_forbidden_clause(line: str) -> str | None:
    """Return the clause that refuses the line, or None if no pattern matches."""
    return next((clause for clause, pattern in _COMPILED if pattern.search(line)), None)
