"""Makes hosts by chance for the rules of the skill stig_wide: files that are right, wrong, contradictory or odd."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from app.skills.stig_wide.rule_table_schema import AuditEntry, FileEntry, ModuleEntry, RuleTable, ValueEntry
from app.syntax.audit_rule_normalization import AuditRule, parse_audit_rule

Lines = list[tuple[str, str]]
"""Paths, each with a line for it."""
SSHD, SSHD_FOLDER = "/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d"
AUDIT = "/etc/audit/audit.rules"
_IN_NAMESPACE = ("net.ipv4.", "net.ipv6.")
_STACKS = ("/etc/pam.d/system-auth", "/etc/pam.d/password-auth")


@dataclass
class Generated:
    files: dict[str, str]
    scenarios: dict[str, str]
    """What was made for each rule."""
    kernel: dict[str, str]
    """The kernel's settings before files are loaded, but for those of a network namespace."""


@dataclass
class _Draft:
    chance: Random
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Lines for the end of a file: inside a Match block, or behind the lock of the audit rules."""
    sections: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    scenarios: dict[str, str] = field(default_factory=dict)


def generate_host(chance: Random, table: RuleTable) -> Generated:
    draft = _Draft(chance)
    for rule, entry in table.sshd.rules.items():
        _add_options(draft, rule, entry, _SSHD)
    for section, layout in (
        (table.login_defs, _LOGIN_DEFS),
        (table.pwquality, _PWQUALITY),
        (table.faillock, _FAILLOCK),
        (table.auditd, _AUDITD),
        (table.dnf, _DNF),
    ):
        for rule, entry in section.rules.items():
            _add_options(draft, rule, entry, layout)
    for rule, one in table.stated.rules.items():
        _add_file_option(draft, rule, one)
    for rule, entry in table.limits.rules.items():
        _add_limit(draft, rule, entry)
    kernel: dict[str, str] = {}
    for rule, entry in table.sysctl.rules.items():
        before = _add_kernel_setting(draft, rule, entry)
        if not entry.key.startswith(_IN_NAMESPACE):
            kernel[entry.key] = before
            draft.scenarios[rule] += (
                f"; the kernel had the {'right' if before == entry.value_to_set else 'wrong'} value"
            )
    for rule, module in table.modprobe.rules.items():
        _add_module(draft, rule, module)
    for rule, audit in table.audit.rules.items():
        _add_audit_lines(draft, rule, audit)
    return Generated(_join_files(draft), draft.scenarios, kernel)


# Options: a value, a spelling, and where the lines stand.


@dataclass(frozen=True)
class _Layout:
    path: str
    spellings: dict[str, str]
    """Names of spellings, each with a format of `key` and `value`."""
    drop_in: str = ""
    ignored: str = ""
    """A file beside the drop-ins that the program does not read."""
    module: str = ""
    section: str = ""
    in_match: bool = False


_SSHD = _Layout(
    SSHD,
    {
        "one blank": "{key} {value}",
        "tabs and blanks": "\t{key} \t {value}  ",
        "a comment behind the value": "{key} {value} # as agreed",
        "quotes": '{key} "{value}"',
        "an equals sign": "{key}={value}",
        "a key in capitals": "{KEY} {value}",
    },
    f"{SSHD_FOLDER}/50-site.conf",
    f"{SSHD_FOLDER}/50-site.bak",
    in_match=True,
)
_LOGIN_DEFS = _Layout(
    "/etc/login.defs",
    {
        "a tab": "{key}\t{value}",
        "blanks around": "  {key}   {value} ",
        "a comment behind the value": "{key} {value} # as agreed",
        "quotes": '{key} "{value}"',
        "an equals sign": "{key}={value}",
        "a key in small letters": "{low} {value}",
    },
)
_KEYED = {
    "blanks around =": "{key} = {value}",
    "no blanks": "{key}={value}",
    "indented": "  {key}  =\t{value} ",
    "a comment behind the value": "{key} = {value} # as agreed",
    "no equals sign": "{key} {value}",
    "a key in capitals": "{KEY} = {value}",
}
_PWQUALITY = _Layout(
    "/etc/security/pwquality.conf",
    _KEYED,
    "/etc/security/pwquality.conf.d/50-site.conf",
    "/etc/security/pwquality.conf.d/50-site.bak",
    module="pam_pwquality.so",
)
_FAILLOCK = _Layout("/etc/security/faillock.conf", _KEYED, module="pam_faillock.so")
_AUDITD = _Layout("/etc/audit/auditd.conf", _KEYED)
_DNF = _Layout(
    "/etc/dnf/dnf.conf",
    {
        "no blanks": "{key}={value}",
        "blanks around =": "{key} = {value}",
        "a comment behind the value": "{key}={value} # as agreed",
        "a key in capitals": "{KEY}={value}",
    },
    section="main",
)


def _add_options(draft: _Draft, rule: str, entry: ValueEntry, layout: _Layout) -> None:
    name, lines = _draw_options(draft.chance, entry, layout)
    draft.scenarios[rule] = name
    for path, line in lines:
        draft.lines[path].append(line)
    if name.endswith("in a Match block"):
        draft.ends[SSHD].append(draft.lines[SSHD].pop())


def _draw_options(chance: Random, entry: ValueEntry, layout: _Layout) -> tuple[str, Lines]:
    main, right, wrong = layout.path, _draw_right(chance, entry), _draw_wrong(chance, entry)
    plain = next(iter(layout.spellings))
    choices: list[Callable[[], tuple[str, Lines]]] = [
        lambda: ("absent", []),
        lambda: ("commented out", [(main, f"#{chance.choice(['', ' '])}{_spell(layout, entry, right, plain)}")]),
        lambda: _spell_oddly(chance, layout, entry, right),
        lambda: _spell_oddly(chance, layout, entry, right),
    ]
    if not entry.flag:
        near = f"wrong{_name_near(entry, wrong)}"
        pairs = {
            f"right, then {near}": (right, wrong),
            f"{near}, then right": (wrong, right),
            "right twice": (right,) * 2,
        }
        for name, values in pairs.items():
            choices.append(
                lambda name=name, values=values: (name, [(main, _spell(layout, entry, one, plain)) for one in values])
            )
        choices += [lambda: (near, [(main, _spell(layout, entry, wrong, plain))])] * 3
    choices += [lambda: ("right", [(main, _spell(layout, entry, right, plain))])] * 3
    if layout.drop_in:
        drop, line = layout.drop_in, lambda value: _spell(layout, entry, value, plain)
        choices.append(lambda: ("right in a drop-in", [(drop, line(right))]))
        beside = layout.ignored or f"{drop}.bak"
        choices.append(lambda: ("right in a file beside the drop-ins", [(beside, line(right))]))
        if not entry.flag:
            choices += [
                lambda: (f"{near} in a drop-in, right in the main file", [(drop, line(wrong)), (main, line(right))]),
                lambda: (f"right in a drop-in, {near} in the main file", [(drop, line(right)), (main, line(wrong))]),
                lambda: (
                    "right, and wrong in a file beside the drop-ins",
                    [(main, line(right)), (beside, line(wrong))],
                ),
            ]
    if layout.in_match:
        choices.append(lambda: ("right only in a Match block", [(main, _spell(layout, entry, right, plain))]))
    if layout.module and not entry.flag:
        argument = f"password required {layout.module} {entry.key}={wrong}"
        choices.append(
            lambda: (
                "right, and another value for the PAM module",
                [(main, _spell(layout, entry, right, plain)), (_STACKS[0], argument)],
            )
        )
    return chance.choice(choices)()


def _spell(layout: _Layout, entry: ValueEntry, value: str, spelling: str) -> str:
    key = entry.name
    form = layout.spellings[spelling]
    if entry.flag:
        form = form.partition("{value}")[0].rstrip('= \t"') + form.partition("{value}")[2].strip('"')
    return form.format(key=key, value=value, KEY=key.upper(), low=key.lower())


def _spell_oddly(chance: Random, layout: _Layout, entry: ValueEntry, value: str) -> tuple[str, Lines]:
    spelling = chance.choice([*layout.spellings])
    return f"right, written with {spelling}", [(layout.path, _spell(layout, entry, value, spelling))]


def _draw_right(chance: Random, entry: ValueEntry) -> str:
    bounds = [f"{one}{entry.unit}" for one in (entry.least, entry.most) if one is not None]
    return chance.choice([*entry.one_of, *bounds, entry.value_to_set])


def _draw_wrong(chance: Random, entry: ValueEntry) -> str:
    if entry.flag:
        return ""
    least, most, unit = entry.least, entry.most, entry.unit
    near = [f"{least - 1}{unit}"] if least is not None else []
    near += [f"{most + 1}{unit}"] if most is not None else []
    near += [f"{entry.other_than}"] if entry.other_than is not None else []
    near += [str(least or 7)] if unit else []
    if near:
        return chance.choice([*near, *near, "none"])
    if entry.pattern:
        return chance.choice(["default none", "1G", "512M 0", "0 1h"])
    named = entry.equals or entry.one_of[0]
    other = {"yes": "no", "no": "yes"}.get(named, "ignore")
    if named.isdigit():
        return chance.choice([str(int(named) + 1), f"{named}1", "none"])
    return chance.choice([other, other, f"{named}x", named.swapcase()])


def _name_near(entry: ValueEntry, value: str) -> str:
    named = {one.casefold() for one in (*entry.one_of, entry.equals or "") if one}
    if value.casefold() in named:
        return " only in its letters' case"
    return " and no number" if value == "none" and not named else ""


def _add_file_option(draft: _Draft, rule: str, entry: FileEntry) -> None:
    sign = " " if entry.path.endswith("chrony.conf") else "="
    plain = f"{{key}}{sign}{{value}}"
    forms = {
        "the usual spelling": plain,
        "an indent": f"  {plain}",
        "a comment behind the value": f"{plain} # as agreed",
    }
    forms |= {"blanks around =": "{key} = {value}"} if sign == "=" else {"tabs": "{key}\t{value}"}
    forms |= {"many blanks around =": "{key}  =  {value}"} if sign == "=" else {}
    layout = _Layout(entry.path, forms, next(iter(entry.also), "").replace("*", "50-site"))
    name, lines = _draw_options(draft.chance, entry, layout)
    draft.scenarios[rule] = name
    for path, line in lines:
        draft.sections[path][entry.section].append(line)


# Limits, kernel settings, modules.


def _add_limit(draft: _Draft, rule: str, entry: ValueEntry) -> None:
    main, folder, right = "/etc/security/limits.conf", "/etc/security/limits.d/50-site.conf", entry.value_to_set
    row = f"* hard {entry.key} {right}"
    scenarios: dict[str, Lines] = {
        "absent": [],
        "right": [(main, row)],
        "right in a drop-in": [(folder, row)],
        "right, written with tabs": [(main, row.replace(" ", "\t"))],
        "right, written with a comment behind": [(main, f"{row} # as agreed")],
        "right for both kinds (-)": [(main, row.replace("hard", "-"))],
        "soft limit only": [(main, row.replace("hard", "soft"))],
        "commented out": [(main, f"#{row}")],
        "wrong": [(main, f"* hard {entry.key} 1")],
        "unlimited": [(main, f"* hard {entry.key} unlimited")],
        "right, and a wrong row for a user": [(main, row), (main, f"bob hard {entry.key} 5")],
        "right, and an unlimited row for a user": [(main, row), (folder, f"bob - {entry.key} unlimited")],
        "only a row for a group": [(main, row.replace("*", "@dev"))],
        "right, and a right row for a group": [(main, row), (folder, row.replace("*", "@dev"))],
        "right, and wrong in a drop-in": [(main, row), (folder, f"* hard {entry.key} 5")],
        "right in a file beside the drop-ins": [("/etc/security/limits.d/50-site.bak", row)],
    }
    draft.scenarios[rule] = draft.chance.choice([*scenarios])
    for path, line in scenarios[draft.scenarios[rule]]:
        draft.lines[path].append(line)


def _add_kernel_setting(draft: _Draft, rule: str, entry: ValueEntry) -> str:
    """Add lines for the setting, and return what the kernel has before they are loaded."""
    early, late, key, right = "/etc/sysctl.d/20-site.conf", "/etc/sysctl.d/70-site.conf", entry.key, entry.value_to_set
    others = ["core"] if right.startswith("|") else ["1" if right == "0" else "0"]
    others += ["2"] if right in {"0", "1"} and not key.startswith(_IN_NAMESPACE) else []  # the kernel refuses some
    wrong = draft.chance.choice(others)
    line, other = f"{key} = {right}", f"{key} = {wrong}"
    path = key.replace(".", "/")
    scenarios: dict[str, Lines] = {
        "absent": [],
        "right": [(late, line)],
        "wrong": [(late, other)],
        "commented out with #": [(late, f"# {line}")],
        "commented out with ;": [(late, f";{line}")],
        "right, written without blanks": [(late, f"{key}={right}")],
        "right, written with many blanks": [(late, f"  {key}\t=  {right}  ")],
        "right, written with slashes": [(late, f"{path} = {right}")],
        "right, written with a minus ahead": [(late, f"-{line}")],
        "right, then wrong in one file": [(late, line), (late, other)],
        "wrong, then right in one file": [(late, other), (late, line)],
        "right early, wrong late": [(early, line), (late, other)],
        "wrong early, right late": [(early, other), (late, line)],
        "right in a file of the system": [("/usr/lib/sysctl.d/50-default.conf", line)],
        "right in a file of the system, wrong late": [("/usr/lib/sysctl.d/50-default.conf", line), (late, other)],
        "right in a file beside the drop-ins": [("/etc/sysctl.d/70-site.bak", line)],
        "right in a file of the same name as the system's": [
            ("/usr/lib/sysctl.d/60-same.conf", other),
            ("/etc/sysctl.d/60-same.conf", line),
        ],
        "right, and wrong in sysctl.conf": [(late, line), ("/etc/sysctl.conf", other)],
    }
    name = draft.chance.choice([*scenarios])
    for file, text in scenarios[name]:
        draft.lines[file].append(text)
    draft.scenarios[rule] = name
    return draft.chance.choice([right, wrong])


def _add_module(draft: _Draft, rule: str, entry: ModuleEntry) -> None:
    name, file = entry.module, f"/etc/modprobe.d/{entry.module}.conf"
    install, ban = f"install {name} /bin/false", f"blacklist {name}"
    other = name.replace("-", "_") if "-" in name else f"{name}x"
    scenarios: dict[str, Lines] = {
        "absent": [],
        "right": [(file, install), (file, ban)],
        "right, written with tabs": [(file, install.replace(" ", "\t")), (file, f"  {ban}\t")],
        "right in two files": [(file, install), ("/etc/modprobe.d/zz.conf", ban)],
        "install alone": [(file, install)],
        "blacklist alone": [(file, ban)],
        "commented out": [(file, f"#{install}"), (file, f"# {ban}")],
        "runs /bin/true": [(file, install.replace("false", "true")), (file, ban)],
        "runs /usr/bin/false": [(file, install.replace("/bin", "/usr/bin")), (file, ban)],
        "runs modprobe": [(file, f"install {name} /sbin/modprobe --ignore-install {name}"), (file, ban)],
        "right, and another install line that loads it": [
            (file, install),
            (file, ban),
            ("/etc/modprobe.d/aa.conf", f"install {name} /sbin/modprobe -i {name}"),
        ],
        "the name with _ for -" if "-" in name else "another module": [
            (file, install.replace(name, other)),
            (file, ban.replace(name, other)),
        ],
        "right in a file that does not end in .conf": [
            ("/etc/modprobe.d/site.bak", install),
            ("/etc/modprobe.d/site.bak", ban),
        ],
        "a comment behind the command": [(file, f"{install} # as agreed"), (file, ban)],
    }
    draft.scenarios[rule] = draft.chance.choice([*scenarios])
    for path, line in scenarios[draft.scenarios[rule]]:
        draft.lines[path].append(line)


# Audit rules.


def _add_audit_lines(draft: _Draft, rule: str, entry: AuditEntry) -> None:
    chance, lines = draft.chance, list(entry.lines)
    changes: dict[str, Callable[[str], list[str]]] = {
        "right": lambda line: [line],
        "written with another key": lambda line: [_replace_key(line, " -k site")],
        "written with key= for -k": lambda line: [_replace_key(line, " -F key=site")],
        "written without a key": lambda line: [_replace_key(line, "")],
        "written with exit,always": lambda line: [line.replace("always,exit", "exit,always")],
        "written with auid!=-1": lambda line: [line.replace("auid!=unset", "auid!=-1")],
        "written with auid!=4294967295": lambda line: [line.replace("auid!=unset", "auid!=4294967295")],
        "written with many blanks": lambda line: [f"  {line.replace(' ', '  ')} "],
        "calls in another order": lambda line: [_edit_calls(line, sorted)],
        "more calls in the line": lambda line: [_edit_calls(line, lambda calls: [*calls, "acct"])],
        "a line for each call": _split_calls,
        "-S for each call": lambda line: [_edit_calls(line, list, " -S ")],
        "fields in another order": lambda line: [
            line.replace("-F auid>=1000 -F auid!=unset", "-F auid!=unset -F auid>=1000")
        ],
        "more permissions": lambda line: [line.replace("perm=x", "perm=rx").replace("perm=wa", "perm=rwxa")],
        "permissions in another order": lambda line: [line.replace("perm=wa", "perm=aw")],
        "fewer permissions": lambda line: [line.replace("perm=wa", "perm=w").replace("perm=x", "perm=r")],
        "no permissions": lambda line: [line.replace(" -F perm=wa", "").replace(" -F perm=x", "")],
        "-S all": lambda line: [line.replace("exit -F path", "exit -S all -F path")],
        "one more field": lambda line: [_replace_key(line, " -F success=0 -k site")],
        "arch=x86_64": lambda line: [line.replace("arch=b64", "arch=x86_64")],
        "another number of accounts": lambda line: [line.replace("auid>=1000", "auid>=500")],
        "-A for -a": lambda line: [line.replace("-a ", "-A ")],
        "a watch (-w)": _write_watch,
        "never for always": lambda line: [line.replace("always", "never")],
        "an exception ahead": lambda line: [_write_exception(line), line],
        "commented out": lambda line: [f"#{line}"],
        "commented out with a blank": lambda line: [f"# {line}"],
        "a longer path": lambda line: [line.replace(" -F perm", "x -F perm")],
    }
    name = chance.choice(
        [*changes, *["absent", "right", "right", "one line missing", "one call missing", "behind -e 2"]]
    )
    draft.scenarios[rule] = name
    if name == "absent":
        return
    if name == "one line missing":
        lines.remove(chance.choice(lines))
    elif name == "one call missing":
        at = chance.randrange(len(lines))
        lines[at] = _edit_calls(lines[at], lambda calls: calls[:-1] or ["acct"])
    elif name == "behind -e 2":
        draft.ends[AUDIT] += lines
        return
    else:
        lines = [made for line in lines for made in changes[name](line)]
    if name == "right":
        chance.shuffle(lines)
    if lines == list(entry.lines):
        draft.scenarios[rule] = "right"
    draft.lines[AUDIT] += lines


def _parse(line: str) -> AuditRule | None:
    return parse_audit_rule(line.split())


def _replace_key(line: str, key: str) -> str:
    return line.partition(" -k ")[0].partition(" -F key=")[0] + key if line.startswith("-a") else line


def _list_calls(line: str) -> tuple[str, list[str], str]:
    ahead, found, behind = line.partition(" -S ")
    calls, _, rest = behind.partition(" ")
    return (ahead, calls.split(","), rest) if found else (line, [], "")


def _edit_calls(line: str, edit: Callable[[list[str]], Sequence[str]], joined: str = ",") -> str:
    ahead, calls, rest = _list_calls(line)
    return f"{ahead} -S {joined.join(edit(calls))} {rest}" if calls else line


def _split_calls(line: str) -> list[str]:
    ahead, calls, rest = _list_calls(line)
    return [f"{ahead} -S {call} {rest}" for call in calls] or [line]


def _write_watch(line: str) -> list[str]:
    parsed = _parse(line)
    paths = parsed.get_values("path") if parsed else []
    return [f"-w {paths[0]} -p {''.join(parsed.get_values('perm'))} -k site"] if parsed and paths else [line]


def _write_exception(line: str) -> str:
    return _replace_key(line, "").replace("always", "never")


# The files of a host.


def _join_files(draft: _Draft) -> dict[str, str]:
    chance, files = draft.chance, {}
    for path, lines in draft.lines.items():
        files[path] = "\n".join([*_head(chance, path), *lines, ""])
    if (main := files.get("/etc/sysctl.conf")) is not None:
        files["/etc/sysctl.d/99-sysctl.conf"] = main  # a link on RHEL
    for path, sections in draft.sections.items():
        files[path] = "".join(
            "\n".join([*([f"[{name}]"] if name else []), *lines, ""]) for name, lines in sections.items()
        )
    if SSHD not in files and any(path.startswith(SSHD_FOLDER) for path in files):
        files[SSHD] = "\n".join([*_head(chance, SSHD), ""])
    for path, lines in draft.ends.items():
        between = "Match User bob\n" if path == SSHD else "-e 2\n"
        files[path] = files.get(path, "") + between + "\n".join([*lines, ""])
    return files


def _head(chance: Random, path: str) -> list[str]:
    if path == SSHD:
        return ["Include /etc/ssh/sshd_config.d/*.conf"]
    if path == AUDIT:
        return ["-D", "-b 8192"]
    return ["[main]"] if path == "/etc/dnf/dnf.conf" else []
