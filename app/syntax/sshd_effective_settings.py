"""The effective sshd settings of one connection, with defaults, as in `sshd -T -C`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.syntax import host_text, sshd_algorithms, sshd_values
from app.syntax.host_files_protocol import Files
from app.syntax.sshd import SshdConfig, SshdConfigLine
from app.syntax.sshd_algorithms import BuiltAlgorithms, resolve_algorithms
from app.syntax.sshd_builtin_tables import DEFAULTS, DEFAULTS_OF_DEBIAN_12, DEFAULTS_OF_RHEL_9
from app.syntax.sshd_keywords import IN_MATCH, RETIRED, normalize_keyword
from app.syntax.sshd_line import Directive
from app.syntax.sshd_match import ConnectionSpec, matches_conditions
from app.syntax.sshd_values import FIRST, LAST

_RELEASES = ("/etc/os-release", "/usr/lib/os-release")
_DEBIAN = ("debian", "ubuntu")
_ADDS_UP = ("allowusers", "denyusers", "allowgroups", "denygroups", "acceptenv", "listenaddress")
_OPENS = ("permitopen", "permitlisten")
_COMMANDS = ("authorizedkeyscommand", "authorizedprincipalscommand")
_REST = ("forcecommand", "versionaddendum")
_UNRANKED = ("ipqos",)
"""Keywords without an order of strictness; their values have several spellings."""


@dataclass(frozen=True)
class SshdProgram:
    defaults: Mapping[str, str]
    algorithms: Mapping[str, BuiltAlgorithms]


RHEL_9 = SshdProgram(DEFAULTS | DEFAULTS_OF_RHEL_9, sshd_algorithms.OF_RHEL_9)
DEBIAN_12 = SshdProgram(DEFAULTS | DEFAULTS_OF_DEBIAN_12, sshd_algorithms.OF_DEBIAN_12)


def detect_sshd_program(files: Files) -> SshdProgram:
    """Detect sshd by the host's release: OpenSSH 9.2 on Debian, else 8.7."""
    for path in _RELEASES:
        for _number, line in host_text.number_lines(host_text.read_text(files, path) or ""):
            key, _equals, value = line.partition("=")
            if key in ("ID", "ID_LIKE") and any(name in value for name in _DEBIAN):
                return DEBIAN_12
    return RHEL_9


def compute_sshd_settings(config: SshdConfig, program: SshdProgram, connection: ConnectionSpec) -> dict[str, str]:
    """Return the settings of the connection. Like sshd, read the global lines first, then matching Match blocks."""
    everybody, this_one = _Reading(program, of_all=True), _Reading(program, of_all=False)
    for line in config.lines:
        if not line.conditions:
            everybody.read_line(line)
        in_match = line.conditions is not None and normalize_keyword(line.directive.keyword) in IN_MATCH
        if in_match and matches_conditions(line.conditions or (), connection):
            this_one.read_line(line)
    found = dict(program.defaults)
    found |= {keyword: ",".join(one.offered) for keyword, one in program.algorithms.items()}
    found |= everybody.collect_single_and_list_settings() | this_one.collect_single_and_list_settings()
    # A Match block may set only one of volume and time.
    parts = {"volume": "0", "time": "0"} | everybody.rekey | this_one.rekey
    found["rekeylimit"] = f"{parts['volume']} {parts['time']}"
    found["maxstartups"] = f"{everybody.begin}:{everybody.rate}:{everybody.full}"
    return found


@dataclass
class _Reading:
    built: SshdProgram
    of_all: bool
    one: dict[str, str] = field(default_factory=dict)
    many: dict[str, list[str]] = field(default_factory=dict)
    rekey: dict[str, str] = field(default_factory=dict)
    begin: int = 10
    rate: int = 30
    full: int = 100

    def collect_single_and_list_settings(self) -> dict[str, str]:
        return self.one | {keyword: " ".join(values) for keyword, values in self.many.items()}

    def read_line(self, line: SshdConfigLine) -> None:
        keyword = normalize_keyword(line.directive.keyword)
        if keyword in RETIRED or keyword in _UNRANKED or not line.directive.arguments:
            return
        take = _TAKES.get(keyword)
        if take:
            take(self, line.directive)
        elif keyword in FIRST:
            self._keep_first(keyword, FIRST[keyword](line.directive.arguments[0]))
        elif keyword in LAST:
            self.one[keyword] = LAST[keyword](line.directive.arguments[0]) or self.one.get(keyword, "")
        elif keyword in self.built.algorithms:
            names = resolve_algorithms(line.directive.arguments[0], self.built.algorithms[keyword])
            # sshd resolves global lists twice, and the second time takes an empty list for none
            again = self.of_all and names == ""
            self._keep_first(keyword, ",".join(self.built.algorithms[keyword].offered) if again else names)
        else:
            self._keep_first(keyword, line.directive.value)

    def _keep_first(self, keyword: str, value: str | None) -> None:
        if value is not None:
            self.one.setdefault(keyword, value)

    def accumulate_values_of_list_keyword(self, directive: Directive) -> None:
        self.many.setdefault(normalize_keyword(directive.keyword), []).extend(directive.arguments)

    def add_port_or_absolute_path(self, directive: Directive) -> None:
        keyword = normalize_keyword(directive.keyword)
        normalize = sshd_values.normalize_port if keyword == "port" else sshd_values.make_path_absolute
        value = normalize(directive.arguments[0])
        self.many.setdefault(keyword, []).extend([value] if value else [])

    def keep_touch_options(self, directive: Directive) -> None:
        given = [host_text.fold_case(one) for one in directive.arguments]
        asked = [one for one in ("touch-required", "verify-required") if one in given]
        self._keep_first("pubkeyauthoptions", " ".join(asked) or "none")

    def append_every_subsystem(self, directive: Directive) -> None:
        self.many.setdefault("subsystem", []).append(directive.value)

    def keep_first_timeout_or_later_none(self, directive: Directive) -> None:
        """Keep the first value, but a later "none" always counts."""
        keyword = normalize_keyword(directive.keyword)
        value = FIRST[keyword](directive.arguments[0])
        self._keep_first(keyword, value)
        if value == "none":
            self.one[keyword] = value

    def keep_first_permit_list(self, directive: Directive) -> None:
        keyword = normalize_keyword(directive.keyword)
        bare = keyword == "permitlisten" and directive.arguments[0] not in ("any", "none")
        named = [one if ":" in one or not bare else f"*:{one}" for one in directive.arguments]
        self._keep_first(keyword, " ".join(named))

    def overwrite_command_unless_keys_command_set(self, directive: Directive) -> None:
        """Keep the last command for principals, unless one for keys comes first: sshd checks the wrong field."""
        keyword, said = normalize_keyword(directive.keyword), directive.rest.lstrip(" \t\r\n")
        if "authorizedkeyscommand" not in self.one:
            self.one[keyword] = "none" if said == "none" else said

    def keep_first_raw_text(self, directive: Directive) -> None:
        keyword, said = normalize_keyword(directive.keyword), directive.rest.lstrip(" \t\r\n")
        self._keep_first(keyword, "none" if host_text.fold_case(said) == "none" else said)

    def keep_rekey_limit(self, directive: Directive) -> None:
        written = {"volume": sshd_values.normalize_size(directive.arguments[0])}
        if len(directive.arguments) > 1 and directive.arguments[1] != "none":
            written["time"] = sshd_values.normalize_seconds(directive.arguments[1])
        self.rekey = {part: value for part, value in written.items() if value is not None} | self.rekey

    def overwrite_max_startups(self, directive: Directive) -> None:
        read = sshd_values.parse_startups(directive.arguments[0])
        if read:
            self.begin, self.full = read[0], read[2]
            self.rate = self.rate if read[1] is None else read[1]


_TAKES: dict[str, Callable[[_Reading, Directive], None]] = {
    **dict.fromkeys(_ADDS_UP, _Reading.accumulate_values_of_list_keyword),
    **dict.fromkeys(_OPENS, _Reading.keep_first_permit_list),
    **dict.fromkeys(_COMMANDS, _Reading.overwrite_command_unless_keys_command_set),
    **dict.fromkeys(_REST, _Reading.keep_first_raw_text),
    **dict.fromkeys(("hostkey", "hostcertificate", "port"), _Reading.add_port_or_absolute_path),
    "subsystem": _Reading.append_every_subsystem,
    "pubkeyauthoptions": _Reading.keep_touch_options,
    "rekeylimit": _Reading.keep_rekey_limit,
    "maxstartups": _Reading.overwrite_max_startups,
    "unusedconnectiontimeout": _Reading.keep_first_timeout_or_later_none,
}
