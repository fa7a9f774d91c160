"""What a rule names: its files, settings, services and other resources. Nothing else may be changed for its sake."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from app.events.event_field_types import AnyAction, Reload, SetOption
from app.resources.kind import ResourceAction, RuleTexts
from app.resources.registry import find_candidates, get_prefixed_name_of_changed_resource
from app.resources.vendor_script import RunVendorScript
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.shell_tokenizer import iterate_quoted_and_heredoc_texts
from app.targets.host_accounts import read_host_accounts
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection
from app.targets.subjects.setting_names_in_changed_lines import iterate_changed_lines_and_keys
from app.targets.writable_areas import JUDGES, list_family_patterns, matches_area

CLAUSE = "outside the rule"
_PATH = re.compile(r"/etc/[A-Za-z0-9_.@/+*-]*[A-Za-z0-9*/-]")
_NAMES = {
    name: pattern
    for pattern, _ in JUDGES
    if (re.search(r"[._]", name := pattern.rpartition("/")[2]) and "*" not in name) or name == "sudoers"
}
"""Files that texts name without their folder; `passwd` or `issue` could be any other word."""
_SHOWN = 6
_SERVED = (
    ("/etc/ssh/", "sshd"),
    ("/etc/crypto-policies/", "sshd"),
    ("/etc/audit/", "auditd"),
    ("/etc/sysctl", "systemd-sysctl"),
    ("/etc/default/grub", "grub"),
    ("/boot/loader/entries/", "grub"),
    ("/etc/kernel/cmdline", "grub"),
    ("/etc/mission/", "mission"),
)
"""The service that reads files at its start or reload."""
_STACKS = list_family_patterns("/etc/pam.d/system-auth")
_NEEDED_WITH_FILE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("/etc/security/faillock.conf", _STACKS, ("pam_faillock",)),
    ("/etc/security/pwquality.conf", _STACKS, ("pam_pwquality",)),
    ("/etc/default/grub", list_family_patterns("/boot/loader/entries/*.conf"), ("options",)),
    ("/etc/default/grub", list_family_patterns("/etc/kernel/cmdline"), ()),
)
"""A module's settings count only where a stack runs it, and the kernel's arguments where a host boots by entries: the
file, more files, and the keys that are needed there."""
_NEEDED_WITH_KEY: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    # Whoever logs in as root has to move to another account first.
    ("permitrootlogin", ("/etc/mission/backup.conf",), ("login",)),
    # Programs that share files have to keep a umask of their own.
    ("umask", ("/etc/mission/mission.conf",), ("upload_umask",)),
    # Two names of one keyword.
    ("kbdinteractiveauthentication", (), ("challengeresponseauthentication",)),
    ("challengeresponseauthentication", (), ("kbdinteractiveauthentication",)),
    # PAM would ask for a password where sshd does not.
    ("usepam", (), ("kbdinteractiveauthentication", "challengeresponseauthentication")),
    # How long a silent client may stay is the product of both.
    ("clientaliveinterval", (), ("clientalivecountmax",)),
    ("clientalivecountmax", (), ("clientaliveinterval",)),
    # The settings of a module are arguments in the stack or lines of its file.
    ("pam_faillock", list_family_patterns("/etc/security/faillock.conf"), ()),
    ("pam_pwquality", list_family_patterns("/etc/security/pwquality.conf"), ()),
    # Otherwise root stays locked out for as long as other accounts.
    ("even_deny_root", (), ("root_unlock_time",)),
)
"""What must change along with a setting: the key that the rule names, more files, and more keys."""


@dataclass(frozen=True)
class RuleScope:
    rule: str
    """The rule's id."""
    text: str
    """Title, requirement and fix as roles read them; resources other than files are found in it."""
    more: str = ""
    """Longer texts and what the rule asks for: they name files and settings, too."""
    code: str = ""
    """The content's script uncut: it names files, and settings where it quotes them. Its commands, flags and comments
    name no setting: `[ -f FILE ]` is not about the audit control -f."""
    script: bool = False
    """The fix in `text` is this script."""
    paths: tuple[str, ...] = ()
    """Files that decide the rule, and those that the scanner has pointed at."""
    proposed: tuple[AnyAction, ...] = ()
    """Actions that the rule's own content proposes on this host."""

    @cached_property
    def changeable_patterns(self) -> tuple[str, ...]:
        """The files that may change: those named, each with its drop-ins, and what is needed along with them."""
        named = [*self.paths, *(getattr(one, "path", "/") for one in self.proposed)]
        named += (path.rstrip(".") for path in _PATH.findall(f"{self.text}\n{self.more}\n{self.code}"))
        named += [path for name, path in _NAMES.items() if self._is_stated(name)]
        found = [one for path in named for one in list_family_patterns(path)]
        found += [one for start, files, _ in _NEEDED_WITH_FILE for one in files if start in found]
        found += [one for key, files, _ in _NEEDED_WITH_KEY for one in files if self._is_stated(key)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def services(self) -> tuple[str, ...]:
        """The services that read these files."""
        return find_services(self.changeable_patterns)

    def covers_path(self, path: str) -> bool:
        return any(matches_area(path, pattern) for pattern in self.changeable_patterns)

    def covers_setting(self, key: str) -> bool:
        """Return True if the rule names the setting, or a setting that needs this one."""
        name = fold_case(key)
        if name.startswith("-"):
            return _mentions_key(self._case_folded_prose, name)  # flags of any command
        needing = [stated for stated, _, keys in _NEEDED_WITH_KEY if name in keys]
        if any(map(self._is_stated, (name, *needing))):
            return True
        return any(name in keys and start in self.changeable_patterns for start, _, keys in _NEEDED_WITH_FILE)

    def covers_service(self, service: str) -> bool:
        name = service.removesuffix(".service")
        return name in self.services or self._is_stated(name)

    def list_candidate_resource_actions(self, files: Files) -> tuple[ResourceAction, ...]:
        """Return the actions on other resources that the rule could want on a host with these files."""
        names = tuple(account.name for account in read_host_accounts(files).accounts)
        ours = (one for one in self.proposed if isinstance(one, ResourceAction))
        return tuple(dict.fromkeys([*find_candidates(RuleTexts(self.rule, self.text, names)), *ours]))

    def _is_stated(self, key: str) -> bool:
        return _mentions_key(self._case_folded_prose, key) or _mentions_key(self._text_quoted_in_script, key)

    @cached_property
    def _case_folded_prose(self) -> str:
        texts = (self.rule, "" if self.script else self.text, self.more)
        return fold_case("\n".join(texts).replace("\\", ""))

    @cached_property
    def _text_quoted_in_script(self) -> str:
        """What the script quotes, without what its regular expressions have in front of a name."""
        return fold_case(re.sub(r"\\[sSwWdDbB][*+?]?|\\", " ", "\n".join(iterate_quoted_and_heredoc_texts(self.code))))


def _mentions_key(text: str, key: str) -> bool:
    words = r"\s+".join(map(re.escape, fold_case(key).split(" ")))
    return re.search(rf"(?<![\w-]){words}(?![\w-])", text) is not None


def find_services(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the services that read these files."""
    return tuple(dict.fromkeys(name for path in paths for start, name in _SERVED if path.startswith(start)))


def find_unnamed_place_objection(
    scope: RuleScope, places: Iterable[str], candidates: Collection[ResourceAction]
) -> Objection | None:
    """Return the objection to the first file or resource that the rule does not name."""
    named = {get_prefixed_name_of_changed_resource(action) for action in candidates}
    foreign = (place for place in places if not (place in named or scope.covers_path(place)))
    return next((_build_unnamed_place_objection(scope, place, candidates) for place in foreign), None)


def find_foreign_action_objection(
    scope: RuleScope, actions: Iterable[AnyAction], candidates: Collection[ResourceAction]
) -> Objection | None:
    """Return the objection to the first action on something that the rule does not name."""
    return next((found for one in actions if (found := judge_action_scope(scope, one, candidates))), None)


def judge_action_scope(scope: RuleScope, action: AnyAction, candidates: Collection[ResourceAction]) -> Objection | None:
    if isinstance(action, RunVendorScript) or action in scope.proposed:
        return None  # compared with the content; a script is approved by a person, too
    if isinstance(action, ResourceAction):
        if action in candidates:
            return None
        return _build_unnamed_place_objection(scope, _describe_action(action), candidates)
    if isinstance(action, Reload):
        known = ", ".join(scope.services) or "no service"
        reason = f"the rule has no need of {action.service}: its files are read by {known}."
        return None if scope.covers_service(action.service) else Objection(CLAUSE, reason)
    if not scope.covers_path(action.path):
        return _build_unnamed_place_objection(scope, action.path, candidates)
    if isinstance(action, SetOption) and not any(map(scope.covers_setting, _list_option_key_spellings(action))):
        return _refuse_key(action.path, f"{action.key} = {action.value}", action.key)
    return None


def _list_option_key_spellings(action: SetOption) -> tuple[str, ...]:
    """Return the spellings of a key: `section.key`, or `hard maxlogins`, whose last part is the name."""
    if action.path.endswith(".rules"):
        return (f"-{action.key.strip().removeprefix('-')} {action.value.strip()}",)
    if action.path.startswith("/etc/sysctl"):
        return (action.key,)
    return (action.key, action.key.split()[-1].rpartition(".")[2]) if action.key.strip() else (action.key,)


def judge_edit_scope(scope: RuleScope, edit: FileEdit) -> Objection | None:
    """Return the objection to a changed line whose setting the rule does not name."""
    for line, keys in iterate_changed_lines_and_keys(edit):
        if keys and not any(map(scope.covers_setting, keys)):
            return _refuse_key(edit.path, line, keys[0])
    return None


def _refuse_key(path: str, line: str, key: str) -> Objection:
    return Objection(CLAUSE, f"{path}: {line.strip()!r} concerns {key}, which the rule does not name.")


def _describe_action(action: ResourceAction) -> str:
    words = [str(getattr(action, name)) for name in action.__struct_fields__[1:]]
    return " ".join([str(action.__struct_config__.tag), get_prefixed_name_of_changed_resource(action), *words])


def _build_unnamed_place_objection(scope: RuleScope, name: str, candidates: Iterable[ResourceAction]) -> Objection:
    known = [*dict.fromkeys(map(get_prefixed_name_of_changed_resource, candidates)), *scope.changeable_patterns]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    told = f"{', '.join(known[:_SHOWN])}{more}" if known else "nothing that can be changed"
    return Objection(CLAUSE, f"the rule does not name {name}. It names {told}.")
