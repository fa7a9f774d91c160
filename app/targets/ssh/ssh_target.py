"""A host over SSH, with the same policy and journal as the built-in host; it can roll back without a connection."""

import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable
from app.events.architect_questions_about_host import Question
from app.events.event_field_types import FileAction, FileChange, Probe, Reload
from app.resources import unit
from app.resources.kind import ResourceAction
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets import file_and_account_baseline, policy
from app.targets.architect_answers_from_files import answer_from_files, clean_answer
from app.targets.change_assessment import Assessment
from app.targets.crash_safe_writes import Disk
from app.targets.effects.audit_rules import GENERATED, LOADED, has_generated_rules
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.files_that_roles_may_see import LinkFollowingFiles
from app.targets.full_disk_retry import retry_host_preparation
from app.targets.host_facts import read_host_facts
from app.targets.host_lock import ALONE, CHANGE_LOCK, HostLock, Ownership
from app.targets.journal import Journal
from app.targets.planned_effects_of_actions import IMPOSSIBLE, Actions, Asks, Paths, ProposedChange, Refusal
from app.targets.program_sandbox import Confinement, detect_confinement
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.rebooter_protocol import RollbackResult
from app.targets.resources.available_actions import Offer
from app.targets.resources.resource_dry_run import is_resource
from app.targets.rule_scope import RuleScope
from app.targets.running_settings_report import InForceReport, read_changed_sysctl_values
from app.targets.ssh import agent_account_protection, change_rollback, service_activator, ssh_health_probes
from app.targets.ssh.architect_answers_from_programs import ask_questions_programs_can_answer
from app.targets.ssh.change_rollback import can_undo_else_check_given_consent
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.file_digest_baseline import recompute_announced_digests, take_host_baseline
from app.targets.ssh.health_probes_by_host_programs import KnownAnswers
from app.targets.ssh.mirrored_journal import MirroredJournal
from app.targets.ssh.remote_programs_on_planned_files import create_asker_keeping_first_answerer, create_remote_asker
from app.targets.ssh.remote_tree import RemoteTree
from app.targets.ssh.scanner_shell import RemoteShell
from app.targets.ssh.service_activator import ServiceActivator
from app.targets.ssh.ssh_rebooter import MachineControl, SshRebooter
from app.targets.ssh.ssh_resource_changes import SECONDS, SshResources
from app.targets.target import AppliedChange
from app.targets.transaction import Transactions
from app.text.clean import clean_text

_PATIENCE = 60.0
"""Added to the host's rollback timer."""
_BASELINE, _ALONE = "baseline.json", "alone"
_LONGEST = 300


class SshTarget:
    simulated = False

    def __init__(
        self,
        name: str,
        folder: Path,
        end: Endpoint,
        *,
        confinement: Confinement | None = None,
        timer: int = service_activator.ROLLBACK_TIMER_SECONDS,
        patience: float = _PATIENCE,
        owned: Ownership = ALONE,
        machine: MachineControl | None = None,
    ) -> None:
        """`machine`: the disposable machine that this host is."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.name = name
        self._owned = owned
        owned.load_folder()
        self.line = SshConnection(end, folder / "known_hosts", owned=owned)
        self.shell = RemoteShell(self.line)
        self._folder = folder
        self._disk = Disk()
        self._timer = timer
        self._patience = timer + patience
        self._changing = HostLock(folder / CHANGE_LOCK, owned.fence)
        self._force = ServiceActivator(self.line)
        self._tree = RemoteTree(self.line)
        here_kept = Journal(folder / "journal", self._disk)
        self._journals = MirroredJournal(
            here_kept, self.line, timer, self._tree.resume_path_refetches, owned.save_folder
        )
        self.recall = ReadTrackingCache()
        self._known = KnownAnswers()
        self._program_answers = ReadTrackingCache()
        ask = create_asker_keeping_first_answerer(
            create_remote_asker(self.line, self._tree, self._program_answers),
            create_local_asker(confinement or detect_confinement(), self.recall),
        )
        self._resources = SshResources(
            self.line, lambda: take_host_baseline(self.line, self._tree.refresh_whole_snapshot())
        )
        self._transactions = Transactions(
            self._tree,
            self._journals,
            self._changing,
            ask,
            self._resources,
            self.recall,
            guard=self._find_host_specific_refusals,
            prepare=self._record_services_and_currently_accepted_users,
        )
        self._set_rollback_mode_in_memory(local_only=(folder / _ALONE).is_file())
        self.rebooter = SshRebooter(self.line, self._journals, self._roll_back_once, machine)

    @property
    def files(self) -> LinkFollowingFiles:
        return self._tree.snapshot

    def cache_reads(self) -> AbstractContextManager[None]:
        """Fetch the files at most once within this context; outside of it each assessment fetches them again."""
        return self._tree.share_snapshot()

    def set_rule_paths_to_fetch(self, paths: Iterable[str]) -> None:
        self._tree.set_rule_paths_to_fetch(paths)

    def prepare(self, *, changes: bool = True, consent: str = "", keep: bool = False) -> None:  # noqa: ARG002
        retry_host_preparation(lambda: self._recover_and_take_baseline(consent if changes else None), self.name)

    def read_facts(self) -> dict[str, str]:
        files, user = self._tree, self.line.end.user
        release = host_text.read_text(files, "/etc/os-release") or ""
        system = host_text.read_text(files, "/etc/redhat-release") or _read_pretty_name(release)
        return read_host_facts(files) | {
            "system": clean_text(system.strip() or "unknown", _LONGEST),
            "agent": f"this program works as {user}; its account, key and sudo are protected",
        }

    def assess_actions(
        self, actions: Actions, allowed: Paths, asks: Asks = frozenset(), scope: RuleScope | None = None
    ) -> Assessment:
        self._tree.refresh_whole_snapshot()
        return self._transactions.assess(ProposedChange(tuple(actions), allowed, asks, scope))

    def list_resources_with_possible_actions(self, proposed: Sequence[ResourceAction]) -> tuple[Offer, ...]:
        return self._resources.list_resources_with_possible_actions(proposed)

    def apply(
        self,
        journal: str,
        actions: Actions,
        allowed: Paths,
        asks: Asks = frozenset(),
        prior_assessment: Assessment | None = None,
        scope: RuleScope | None = None,
    ) -> AppliedChange:
        began = time.monotonic()
        try:
            files = self._tree.refresh_whole_snapshot(skip_later_refetches_until_resumed=True)
            done = self._transactions.apply(
                journal, ProposedChange(tuple(actions), allowed, asks, scope), prior_assessment
            )
            self._force.activate(self._journals.services)
            self._confirm_by_login_or_explain(journal)
            found = self._tree.refresh_whole_snapshot()
            self._forget_answers_unless_state_covers(change.path for change in done.changes)
            if any(is_resource(change.path) for change in done.changes):
                self._require_no_weaker_result(done, files, found, asks)
        except EnvironmentUnusable as exc:
            if isinstance(exc, ConnectionLost) and self._journals.local.read_mark(journal) in (None, "undone"):
                raise  # nothing was begun, so the change cannot be why the host does not answer
            raise ActionFailed(f"The change was not seen through: {exc}") from exc
        return AppliedChange(done.diff, done.changes, time.monotonic() - began)

    def _find_host_specific_refusals(self, actions: Actions, before: Files, after: Files) -> list[Refusal]:
        """Return what this host refuses beyond the policy."""
        ours = agent_account_protection.find_account_refusals(self.line.end.user, actions, before, after)
        loads = next(
            (one for one in actions if isinstance(one, Reload) and one.service == service_activator.SYSCTL), None
        )
        other = loads and self._explain_unchangeable_kernel_value(before, after)
        return [*ours, Refusal(loads, IMPOSSIBLE, other)] if loads and other else ours

    def _explain_unchangeable_kernel_value(self, before: Files, after: Files) -> str:
        """Return which setting the kernel has otherwise and this host may not change; "" if there is none."""
        wanted = read_changed_sysctl_values(before, after)
        rows = self.line.run("kernel", *wanted).report
        now = {key: " ".join(value.split()) for key, value in rows.get_rows("sysctl")}
        if rows.find_row("fixed") is None:
            return ""
        other = next((key for key, value in wanted.items() if now.get(key) != value), "")
        why = "this host shares its kernel with another system and may not change its settings"
        return other and f"{other} is {now.get(other) or 'unknown'} in the kernel: {why}."

    def _record_services_and_currently_accepted_users(self, assessment: Assessment) -> None:
        """Note which services read the files, and whom sshd accepts while the files are as they were."""
        actions = assessment.change.actions
        paths = {one.path for one in actions if isinstance(one, FileAction)} | assessment.foreseen.files.keys()
        self._journals.services = service_activator.list_services_to_reload(paths, actions)
        self._force.record_accepted_users(self._journals.services)

    def _require_no_weaker_result(self, done: AppliedChange, before: Files, after: Files, asks: frozenset[str]) -> None:
        """Raise ActionFailed if package scripts weakened a file; their effect is known only afterwards."""
        paths = {change.path for change in done.changes if not is_resource(change.path)}
        if weaker := policy.find_effect_objection(paths, before, after, asks, self.recall):
            raise ActionFailed(f"It is done and cannot stay ({weaker.clause}): {weaker.reason}")

    def roll_back(self, journal: str) -> RollbackResult:
        more = SECONDS if self._journals.may_cover_non_file_resources(journal) else 0
        return change_rollback.retry_until_reachable_or_rollback_failed(
            lambda: self._roll_back_once(journal), self._patience + more
        )

    def commit(self, journal: str, *, keep_images: bool = False) -> None:
        there = self._journals.find_host_journal(journal)
        if there and there.mark == "undone" and self._journals.read_mark(journal) == "open":
            self._roll_back_once(journal)
            raise ActionFailed(f"The host took the change {journal} back by itself; there is nothing to keep.")
        if there and there.armed and there.mark == "open" and (why := self._confirm_by_login_or_explain(journal)):
            raise ActionFailed(f"The change {journal} cannot stay: {why}.")
        self._transactions.commit(journal, keep_images=keep_images)

    def list_pending(self) -> list[str]:
        return self._journals.list_pending()

    def check_health(self) -> tuple[Probe, ...]:
        """Log in anew by every watched way, one after the other, and at the same time ask the host's programs.

        sshd may refuse a second login while one is under way (MaxStartups).
        """
        with ThreadPoolExecutor(1, f"logins to {self.name}") as beside:
            login = beside.submit(ssh_health_probes.probe_new_login_and_sudo, self.line)
            watched = beside.submit(ssh_health_probes.probe_watched_logins, self.line)
            try:
                files = self._tree.refresh_whole_snapshot()
                ours = self._journals.local.list_changed_resources()
                found = [
                    exclude_own_masks(one, ours)
                    for one in ssh_health_probes.probe_health_by_programs_else_files(self.line, files, self._known)
                ]
                return (*login.result(), *watched.result(), *found)
            except EnvironmentUnusable as exc:
                return (*login.result(), Probe("line", False, clean_text(str(exc), _LONGEST)))

    def check_in_force(self) -> InForceReport:
        return ssh_health_probes.read_running_state(self.line, self._tree.snapshot)

    def describe_drift(self, expected_changes: Sequence[FileChange]) -> tuple[str, ...]:
        held, kept = self._tree.refresh_whole_snapshot(), self._journals.local
        noted, underway = kept.list_committed_and_open_side_effects(), kept.list_open_side_effect_paths()
        announced = [*kept.list_committed_file_changes(), *expected_changes]
        announced = [one for one in announced if not is_resource(one.path) and one.path not in underway]
        now = recompute_announced_digests(take_host_baseline(self.line, held), held, announced)
        was = file_and_account_baseline.apply_side_effects(
            file_and_account_baseline.load_baseline(self._folder / _BASELINE), noted
        )
        if has_generated_rules(self._tree.snapshot) and file_and_account_baseline.is_root_file_closed_to_other_accounts(
            now, LOADED
        ):
            was, now = (file_and_account_baseline.exclude_paths(one, GENERATED) for one in (was, now))
            announced = [one for one in announced if one.path not in GENERATED]
        return file_and_account_baseline.describe_drift(was, now, announced)

    def answer_questions(self, questions: Sequence[Question], rule_paths: Collection[str]) -> tuple[str, ...]:
        """Ask the host's programs in one call; the rest is answered from its files."""
        files, told = self._tree.snapshot, ask_questions_programs_can_answer(self.line, questions)
        return tuple(
            clean_answer(told[one] if one in told else answer_from_files(one, files, rule_paths)) for one in questions
        )

    def read_log_lines(self, limit: int) -> list[str]:
        found = ssh_health_probes.read_host_logs(self.line, limit)
        share = max(1, limit // max(1, len({log for log, _ in found})))
        logs = dict.fromkeys(name for name, _ in found)
        newest = [(log, text) for log in logs for text in [text for name, text in found if name == log][-share:]]
        return [f"{log}: {clean_text(text, _LONGEST)}" for log, text in newest][:limit]

    def compute_digest(self) -> str:
        return file_and_account_baseline.hash_baseline_entries(take_host_baseline(self.line, self._tree.snapshot))

    def assert_usable(self) -> None:
        with self._changing:
            self._disk.check_folder_is_writable(self._folder)
        self.line.assert_alive()

    def close(self) -> None:
        self.line.close()

    def _recover_and_take_baseline(self, consent: str | None) -> None:
        """Check that changes are possible, roll back open journals and store a file_and_account_baseline."""
        self._program_answers.forget()
        if consent is not None:
            self._save_and_set_pre_image_places(
                on_temper_machine_only=not can_undo_else_check_given_consent(self.line, self.name, consent)
            )
        for name in self._journals.local.list_pending():
            undone = self._roll_back_once(name)
            if undone.differences:
                raise EnvironmentUnusable(
                    f"the change {name} is still open and cannot be rolled back: {undone.differences[0]}."
                )
        for name in self._journals.list_pending():
            raise EnvironmentUnusable(
                f"another Temper left the change {name} open on {self.line.end}. "
                f"If nobody works on it, roll it back: temper host check {self.name} --undo."
            )
        if consent is not None:
            self._journals.forget_committed_images_on_host()
        self._journals.local.void_journals()
        was = take_host_baseline(self.line, self._tree.refresh_whole_snapshot())
        self._disk.write_private_file(self._folder / _BASELINE, msgspec.json.encode(was))
        self._owned.save_folder()

    def _set_rollback_mode_in_memory(self, *, local_only: bool) -> None:
        self._journals.local_only = self._tree.local_only = local_only
        way_back = (
            "pre-images here alone, since the host cannot be rolled back, which a person accepted"
            if local_only
            else f"pre-images on the host and here; the host takes back what cuts the line, after {self._timer} s"
        )
        self.confinement = f"over SSH as {self.line.end.user}: typed file actions; {way_back}"

    def _save_and_set_pre_image_places(self, *, on_temper_machine_only: bool) -> None:
        """Store the mode on disk, so that it also holds after a crash."""
        if on_temper_machine_only:
            self._disk.write_private_file(self._folder / _ALONE, b"")
        else:
            self._disk.remove_file_by_path(self._folder / _ALONE)
        self._set_rollback_mode_in_memory(local_only=on_temper_machine_only)

    def _confirm_by_login_or_explain(self, name: str) -> str:
        """Disarm the host's timer after a new login that can act as root; return why not, or ""."""
        for probe in ssh_health_probes.probe_new_login_and_sudo(self.line):
            if not probe.ok:
                return probe.detail
        self._journals.disarm_timer(name)
        return ""

    def _roll_back_once(self, name: str) -> RollbackResult:
        with self._changing:
            done = change_rollback.roll_back_change(name, self._journals, self._tree)
        self._forget_answers_unless_state_covers(done.paths)
        return done

    def _forget_answers_unless_state_covers(self, paths: Iterable[str]) -> None:
        """Forget what the programs answered if other files changed than those of /etc and of the boot loader."""
        if not all(path.startswith(("/etc/", "/boot/")) for path in paths):
            self._known.forget()
            self._program_answers.forget()


def exclude_own_masks(probe: Probe, resources: Collection[str]) -> Probe:
    """Remove masked units from a probe's weaknesses if a change of ours masked them."""
    ours = unit.KIND.prefix
    asked = {f"{name.removeprefix(ours)} masked" for name in resources if name.startswith(ours)}
    return msgspec.structs.replace(probe, weak=tuple(one for one in probe.weak if one not in asked))


def _read_pretty_name(os_release_text: str) -> str:
    names = [
        line.partition("=")[2].strip("\"'") for line in os_release_text.split("\n") if line.startswith("PRETTY_NAME=")
    ]
    return names[0] if names else ""
