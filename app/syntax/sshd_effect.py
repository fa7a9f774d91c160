"""The effective sshd settings of one connection, with defaults, as in `sshd -T -C`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from app.syntax import source, sshd_algorithms
from app.syntax.files import Files
from app.syntax.sshd import SshdConfig, SshdLine
from app.syntax.sshd_algorithms import Built, resolved
from app.syntax.sshd_defaults import COMMON, OF_DEBIAN_12, OF_RHEL_9
from app.syntax.sshd_keywords import IN_MATCH, RETIRED, name_of
from app.syntax.sshd_line import Directive
from app.syntax.sshd_match import SshdVisitor, fits
from app.syntax.sshd_values import FIRST, LAST, file, port, seconds, starts, volume

_RELEASES = ("/etc/os-release", "/usr/lib/os-release")
_DEBIAN = ("debian", "ubuntu")
_ADDS_UP = ("allowusers", "denyusers", "allowgroups", "denygroups", "acceptenv", "listenaddress")
_WHOLE_LINE = ("authorizedkeysfile", "setenv", "authenticationmethods", "logverbose", "channeltimeout")
_OPENS = ("permitopen", "permitlisten")
_COMMANDS = ("authorizedkeyscommand", "authorizedprincipalscommand")
_REST = ("forcecommand", "versionaddendum")
_UNRANKED = ("ipqos",)
"""Keywords without an order of strictness; their values have several spellings."""


@dataclass(frozen=True)
class Program:
    defaults: Mapping[str, str]
    algorithms: Mapping[str, Built]


RHEL_9 = Program(COMMON | OF_RHEL_9, sshd_algorithms.OF_RHEL_9)
DEBIAN_12 = Program(COMMON | OF_DEBIAN_12, sshd_algorithms.OF_DEBIAN_12)


def program(files: Files) -> Program:
    """Detect sshd by the host's release: OpenSSH 9.2 on Debian, else 8.7."""
    for path in _RELEASES:
        for _number, line in source.numbered(source.text(files, path) or ""):
            key, _equals, value = line.partition("=")
            if key in ("ID", "ID_LIKE") and any(name in value for name in _DEBIAN):
                return DEBIAN_12
    return RHEL_9


def settings(config: SshdConfig, built: Program, who: SshdVisitor) -> dict[str, str]:
    """Return the settings of the connection. Like sshd, read the global lines first, then matching Match blocks."""
    everybody, this_one = _Reading(built, of_all=True), _Reading(built, of_all=False)
    for line in config.lines:
        if not line.conditions:
            everybody.take(line)
        if line.conditions is not None and name_of(line.directive.keyword) in IN_MATCH and fits(line.conditions, who):
            this_one.take(line)
    found = dict(built.defaults)
    found |= {keyword: ",".join(one.offered) for keyword, one in built.algorithms.items()}
    found |= everybody.settings() | this_one.settings()
    found["rekeylimit"] = _rekey(this_one, everybody)
    found["maxstartups"] = everybody.startups()
    return found


def _rekey(this_one: "_Reading", everybody: "_Reading") -> str:
    """Return the rekey limit. Volume and time are separate: a Match block may set only one."""
    parts = {"volume": "0", "time": "0"} | everybody.rekey | this_one.rekey
    return f"{parts['volume']} {parts['time']}"


@dataclass
class _Reading:
    built: Program
    of_all: bool
    one: dict[str, str] = field(default_factory=dict)
    many: dict[str, list[str]] = field(default_factory=dict)
    rekey: dict[str, str] = field(default_factory=dict)
    begin: int = 10
    rate: int = 30
    full: int = 100

    def settings(self) -> dict[str, str]:
        return self.one | {keyword: " ".join(values) for keyword, values in self.many.items()}

    def startups(self) -> str:
        return f"{self.begin}:{self.rate}:{self.full}"

    def take(self, line: SshdLine) -> None:
        keyword = name_of(line.directive.keyword)
        if keyword in RETIRED or keyword in _UNRANKED or not line.directive.arguments:
            return
        take = _TAKES.get(keyword)
        if take:
            take(self, line.directive)
        elif keyword in FIRST:
            self._keep(keyword, FIRST[keyword](line.directive.arguments[0]))
        elif keyword in LAST:
            self.one[keyword] = LAST[keyword](line.directive.arguments[0]) or self.one.get(keyword, "")
        elif keyword in self.built.algorithms:
            names = resolved(line.directive.arguments[0], self.built.algorithms[keyword])
            # sshd resolves global lists twice, and the second time takes an empty list for none
            again = self.of_all and names == ""
            self._keep(keyword, ",".join(self.built.algorithms[keyword].offered) if again else names)
        else:
            self._keep(keyword, line.directive.value)

    def _keep(self, keyword: str, value: str | None) -> None:
        if value is not None:
            self.one.setdefault(keyword, value)

    def adds_up(self, found: Directive) -> None:
        self.many.setdefault(name_of(found.keyword), []).extend(found.arguments)

    def ports(self, found: Directive) -> None:
        self.many.setdefault("port", []).extend(filter(None, [port(found.arguments[0])]))

    def paths(self, found: Directive) -> None:
        self.many.setdefault(name_of(found.keyword), []).extend(filter(None, [file(found.arguments[0])]))

    def touches(self, found: Directive) -> None:
        asked = [one for one in ("touch-required", "verify-required") if one in map(source.fold, found.arguments)]
        self._keep("pubkeyauthoptions", " ".join(asked) or "none")

    def subsystem(self, found: Directive) -> None:
        self.many.setdefault("subsystem", []).append(found.value)

    def timeout(self, found: Directive) -> None:
        """Keep the first value, but a later "none" always counts."""
        keyword, value = name_of(found.keyword), FIRST[name_of(found.keyword)](found.arguments[0])
        self._keep(keyword, value)
        if value == "none":
            self.one[keyword] = value

    def line(self, found: Directive) -> None:
        self._keep(name_of(found.keyword), found.value)

    def opens(self, found: Directive) -> None:
        keyword = name_of(found.keyword)
        bare = keyword == "permitlisten" and found.arguments[0] not in ("any", "none")
        named = [one if ":" in one or not bare else f"*:{one}" for one in found.arguments]
        self._keep(keyword, " ".join(named))

    def command(self, found: Directive) -> None:
        """Keep the last command for principals, unless one for keys comes first: sshd checks the wrong field."""
        keyword, said = name_of(found.keyword), found.rest.lstrip(" \t\r\n")
        if "authorizedkeyscommand" not in self.one:
            self.one[keyword] = "none" if said == "none" else said

    def rest(self, found: Directive) -> None:
        keyword, said = name_of(found.keyword), found.rest.lstrip(" \t\r\n")
        self._keep(keyword, "none" if source.fold(said) == "none" else said)

    def rekeying(self, found: Directive) -> None:
        written = {"volume": volume(found.arguments[0])}
        if len(found.arguments) > 1 and found.arguments[1] != "none":
            written["time"] = seconds(found.arguments[1])
        self.rekey = {part: value for part, value in written.items() if value is not None} | self.rekey

    def starting(self, found: Directive) -> None:
        read = starts(found.arguments[0])
        if read:
            self.begin, self.full = read[0], read[2]
            self.rate = self.rate if read[1] is None else read[1]


_Take = Callable[[_Reading, Directive], None]


def _each(keywords: Iterable[str], take: _Take) -> dict[str, _Take]:
    return dict.fromkeys(keywords, take)


_TAKES = (
    _each(_ADDS_UP, _Reading.adds_up)
    | _each(_WHOLE_LINE, _Reading.line)
    | _each(_OPENS, _Reading.opens)
    | _each(_COMMANDS, _Reading.command)
    | _each(_REST, _Reading.rest)
    | _each(("hostkey", "hostcertificate"), _Reading.paths)
    | _each(("port",), _Reading.ports)
    | _each(("subsystem",), _Reading.subsystem)
    | _each(("pubkeyauthoptions",), _Reading.touches)
    | _each(("rekeylimit",), _Reading.rekeying)
    | _each(("maxstartups",), _Reading.starting)
    | _each(("unusedconnectiontimeout",), _Reading.timeout)
)
