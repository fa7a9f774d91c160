"""The runtime of a process that works on runs: its long-lived parts, and how it drives a run to its end."""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import httpx
import msgspec
from sqlalchemy import Engine

from app.candidates.recipe_file_reader import load_folder_and_extra_recipes
from app.config import Settings
from app.engines.client import read_api_key
from app.engines.launch.engine_fleet import Fleet
from app.engines.queue import EngineQueues
from app.engines.replica_choice import EngineTraffic
from app.engines.simulator_process import SimulatorProcess
from app.errors import EnvironmentUnusable, LeaseLost, StorageFault, TemperError, find_storage_fault
from app.events.approval_policy import ApprovalPolicy
from app.events.bus import Bus
from app.events.kinds import RunFailed, RunQueued, RunResumed, RunWaiting
from app.events.log_writer import LogWriter, RunLog
from app.evidence.notary import open_notary
from app.lineups.model import Lineup
from app.loop.drive import drive_run, roll_back_and_fail_run
from app.loop.durable_run_queue import DurableQueue
from app.loop.run_in_progress import Run, RunServices
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import RunState, fold_events
from app.machine.measuring.background_probe_task import ProbeRunner, explain_run_blocking_probe
from app.machine.measuring.engine_replicas_to_probe import choose_engines, create_probe_subjects
from app.machine.measuring.engine_startup_figures import collect_loads
from app.machine.measuring.gpu_memory_during_probe import BoardCards
from app.machine.measuring.probe import EngineBusy
from app.machine.sampling.sample_board import Board
from app.runs.fix_forecast import RunForecast, forecast_run
from app.runs.scanner_factory import create_scanner, open_scanner_and_target, prepare_fixture_if_empty
from app.runs.site_values import load_skill_with_site_values
from app.runtime import accepted_runs_offered_to_queue
from app.runtime.accepted_runs_offered_to_queue import Offers
from app.runtime.data_folder import read_or_create_folder_id
from app.runtime.free_disk_space_meter import DiskMeter
from app.runtime.model_server_chosen_by_admin import OwnServer
from app.runtime.role_engine_clients import create_seats
from app.scanners.scanner import Verdict
from app.skills.skill import Skill
from app.store import run_queries
from app.store.change_monitor import ChangeMonitor
from app.store.database_clock import DatabaseClock
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.store.events import EventStore
from app.store.host_folder_contents_in_database import HostFolders
from app.store.leases import Leases
from app.store.models import RunRow
from app.store.prior_knowledge import StoredRunHistory
from app.store.run_command_inbox import InboxPoller
from app.store.session_shared_within_request import open_read_session
from app.targets.host_lock import ALONE, Ownership
from app.targets.host_registry import is_fixture, open_target
from app.targets.target_thread import TargetThread

NO_FURTHER = 20
"""Consecutive crashes of workers on a run without progress after which the run fails."""
AGAIN_AFTER = 0.5
"""Seconds until a run resumes after the database was unavailable."""
NOT_WRITTEN = 3.0
"""Seconds that a write may take before this process is not ready and accepts no runs."""
WAITS = ("run.waiting", "run.wait_ended")
FORWARD = (
    *("run.resumed", "turn.finished", "verdict", "action.applied", "action.rolled_back", "item.started"),
    *("reboot.announced", "reboot.returned", "reboot.lost", "reboot.undone"),
)

log = logging.getLogger(__name__)


@dataclass
class Runtime:
    settings: Settings
    lineup: Lineup
    leases: Leases | None
    """Set if other nodes share the database."""
    database: Engine
    clock: DatabaseClock
    """Clock of the database, for all times that other nodes read."""
    store: EventStore
    bus: Bus
    writer: LogWriter
    http: httpx.AsyncClient
    bases: dict[str, tuple[str, ...]]
    """Base URLs of each engine's replicas."""
    board: Board
    simulator: SimulatorProcess | None
    """Simulator of the simulated engines; it can be stopped and started while runs wait."""
    launched: Fleet
    """Engines that this process launched or adopted, by replica."""
    traffic: EngineTraffic
    queues: EngineQueues
    """Queues in which turns wait for engines."""
    prober: ProbeRunner
    """Runs engine probes."""
    changes: ChangeMonitor
    inboxes: InboxPoller
    """Deliver commands to the runs in progress."""
    approvals: ApprovalPolicy | None = None
    """Approval policy of runs that begin here."""
    own_server: OwnServer = field(default_factory=OwnServer)
    durable: DurableQueue = field(init=False)
    offers: Offers = field(init=False)
    disk: DiskMeter = field(default_factory=DiskMeter)
    began_at: float = field(default_factory=time.time)

    @property
    def name(self) -> str:
        return f"worker {self.leases.node}" if self.leases else f"worker {os.getpid()}"

    @property
    def is_leader(self) -> bool:
        """Return True if this node runs schedules and webhooks for all nodes."""
        return self.leases is None or bool(self.leases.leads)

    async def submit_run(self, request: RunQueued, run: str | None = None) -> str:
        """Accept a run, which starts once its first event is on disk. A refused run leaves no trace.

        Raise EnvironmentUnusable while the log cannot be written: a run that waits there would start
        long after its refusal.
        """
        if (waits := self.writer.stalled_seconds) > NOT_WRITTEN:
            problem = f"The log has waited for {waits:.0f} s to be written, so no run can be accepted."
            remedy = "Free space in the data folder, or look at the database; then try again."
            raise EnvironmentUnusable(f"{problem} {remedy}")
        run = run or create_random_run_id()
        RunLog(run, self.writer, clock=self.clock.now).append(request)
        await self.writer.flush()
        self.offers.request_offer_round()
        return run

    def read_run_row(self, run: str) -> RunRow | None:
        with open_read_session(self.database) as session:
            return run_queries.find_run(session, run)

    def list_unended_runs(self) -> list[str]:
        with open_read_session(self.database) as session:
            return [row.id for row in run_queries.list_unended_runs(session)]

    def has_no_unended_runs(self) -> bool:
        with open_read_session(self.database) as session:
            return not run_queries.has_unended_runs(session)

    def find_unended_run_id_by_request(self, request: RunQueued) -> str | None:
        """Return the id of an interrupted run with the same request, or None."""
        for run in self.list_unended_runs():
            begun = fold_events(self.store.read_events(run, upto=1)).request
            alike = {"note": request.note, "pace": request.pace, "replay_fixes": request.replay_fixes}
            if begun and msgspec.structs.replace(begun, **alike) == request:
                return run
        return None

    def store_host_registration(self, host: str) -> None:
        if self.leases:
            HostFolders(self.database, self.settings.hosts_folder).store_registration(host)

    async def scan_host_and_get_scanner_name(self, host: str, skill_name: str) -> tuple[str, list[Verdict]]:
        """Scan a host and return the scanner's name and verdicts; change and record nothing."""
        pack = await asyncio.to_thread(load_skill_with_site_values, skill_name, host, self.database)
        async with open_scanner_and_target(pack, host, self.settings.hosts_folder) as (scanner, target):
            files = await target.run_blocking(lambda target: target.files)
            return scanner.name, await scanner.scan(files, tuple(pack.rules))

    async def scan_and_forecast_fixes(self, host: str, skill_name: str, rules: Sequence[str]) -> RunForecast:
        """Scan a host and forecast what a run over these rules would do there; change and record nothing."""
        skill = await asyncio.to_thread(load_skill_with_site_values, skill_name, host, self.database)
        recipes = await asyncio.to_thread(
            load_folder_and_extra_recipes, self.settings.fix_recipes_folder, self.settings.recipes
        )
        found = await forecast_run(skill, host, self.settings.hosts_folder, recipes, rules)
        return replace(found, pace=await asyncio.to_thread(self._find_seconds_per_finding, host))

    def _find_seconds_per_finding(self, host: str) -> float | None:
        with open_read_session(self.database) as session:
            return run_queries.find_median_seconds_per_finding(session, host)

    async def start_probe(self, engine: str) -> None:
        """Start to probe one engine, or all if empty. Raise EngineBusy while a run works."""
        if reason := await asyncio.to_thread(self._explain_run_blocking_probe):
            raise EngineBusy(reason)
        engines, cards = choose_engines(self.lineup, engine), BoardCards(self.board)
        pace, loaded = self.settings.speed, collect_loads(self.launched)
        subjects = create_probe_subjects(
            self.lineup, engines, self.bases, self.http, cards, pace, read_api_key, self.traffic, loaded
        )
        self.prober.start(subjects)

    def _explain_run_blocking_probe(self) -> str:
        logs = map(self.store.read_events_without_deltas, self.list_unended_runs())
        return explain_run_blocking_probe(map(fold_events, logs))

    async def work_on_run(self, run_id: str, epoch: int) -> None:
        """Resume a run from its log and drive it to its end. An unavailable database is handled like a crash."""
        interrupted_by = ""
        while True:
            try:
                if await asyncio.to_thread(
                    accepted_runs_offered_to_queue.pass_run_on_if_unreachable,
                    self.database,
                    self.leases,
                    self.durable,
                    run_id,
                    epoch,
                ):
                    return None
                await self._drive_run(run_id, epoch, interrupted_by)
                self.offers.request_offer_round()
                return await asyncio.to_thread(self._note_log_end_in_audit, run_id)
            except LeaseLost:
                return log.warning("run goes on at another node", extra={"run": run_id})
            except DATABASE_UNAVAILABLE as exc:
                log.warning("run waits for the database", extra={"run": run_id, "reason": shorten_database_error(exc)})
                interrupted_by = "The database did not answer"
            except StorageFault as exc:
                log.warning("run waits for the data folder", extra={"run": run_id, "reason": str(exc)})
                interrupted_by = "Files of Temper's own could not be used"
            except TemperError:
                if not self.writer.broken.is_set():
                    raise
                # Never return, so the run stays queued: this process is ending, and the next one resumes the run.
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(AGAIN_AFTER)
            await self.writer.flush()

    async def _drive_run(self, run_id: str, epoch: int, interrupted_by: str) -> None:
        # Events that this process appended before it lost the run may still wait: write or drop them before the log
        # is read.
        await self.writer.flush()
        try:
            run = await asyncio.to_thread(self._claim_and_load_run, run_id, epoch)
        except (TemperError, OSError) as exc:
            if fault := find_storage_fault(exc):
                await self._record_wait(run_id, fault)
                raise fault from exc
            if not isinstance(exc, TemperError):
                raise
            await self._fail_run(await asyncio.to_thread(self._open_log, run_id), str(exc))
            return None
        self._log_recovery(run.state)
        try:
            if await asyncio.to_thread(self._is_crash_looping, run_id):
                reason = f"its process ended {NO_FURTHER} times in a row without progress"
                return await self._fail_run(run.log, reason)
            if run.state.request and run.state.request.keep:
                await run.services.target.run_blocking(prepare_fixture_if_empty)
            with self.inboxes.open_inbox(run_id) as inbox:
                await drive_run(run, inbox, interrupted_by)
        except (LeaseLost, TemperError, *DATABASE_UNAVAILABLE):
            raise
        except Exception as exc:
            if fault := find_storage_fault(exc):
                raise fault from exc
            log.exception("run failed by a fault of ours", extra={"run": run_id})
            await roll_back_and_fail_run(run, f"a fault of Temper's own: {type(exc).__name__}; its log has the details")
        finally:
            await run.services.target.close()

    def _log_recovery(self, state: RunState) -> None:
        """Log that a run continues that this process or another had begun; log nothing for a new run."""
        if not state.started or state.ended or not state.request:
            return
        elsewhere = self.leases is not None and state.worker != self.name
        before = state.worker.removeprefix("worker ")
        after = round(max(0.0, time.time() - state.at), 1)
        fields = {"run": state.run, "host": state.request.host, "from": before, "after_s": after}
        log.info("run taken over" if elsewhere else "run recovered", extra=fields)

    def _note_log_end_in_audit(self, run_id: str) -> None:
        """Record the log's length in the audit log if the run has ended, so that truncation is detected."""
        with open_read_session(self.database) as session:
            row = run_queries.find_run(session, run_id)
            ended = row is not None and row.ended_at is not None
        if ended:
            open_notary(self.settings.data, self.database).append_run_end_seal_to_audit(run_id)

    async def _record_wait(self, run_id: str, fault: StorageFault) -> None:
        """Record in the log that the run waits, once, although it could not be loaded."""
        last = await asyncio.to_thread(
            self.store.read_events_of_kinds_newest_first, run_id, None, (*WAITS, *FORWARD), 1
        )
        if not last or not isinstance(last[0].event, RunWaiting):
            run = await asyncio.to_thread(self._open_log, run_id)
            run.append(RunWaiting(cause="storage", reason=fault.sentence))
            await run.flush()

    async def _fail_run(self, run_log: RunLog, reason: str) -> None:
        run_log.append(RunFailed(reason=reason))
        await run_log.flush()

    def _open_log(self, run_id: str) -> RunLog:
        last = self.store.read_last_link(run_id)
        assert last
        return RunLog(run_id, self.writer, last, self.clock.now)

    def _is_crash_looping(self, run_id: str) -> bool:
        last = self.store.read_events_of_kinds_newest_first(run_id, None, FORWARD, NO_FURTHER)
        crashes = [one.event for one in last if isinstance(one.event, RunResumed) and one.event.after_crash]
        return sum(not event.reason for event in crashes) == NO_FURTHER

    def _claim_and_load_run(self, run_id: str, epoch: int) -> Run:
        owned = self._acquire_run_ownership(run_id, epoch)
        state = fold_events(self.store.read_events_for_fold(run_id))
        assert state.request
        pack = self._load_skill(state)
        target = open_target(state.request.host, self.settings.hosts_folder, owned)
        rules = [pack.rules[rule] for rule in state.request.rules if rule in pack.rules]
        target.set_rule_paths_to_fetch(path for rule in rules for path in rule.paths)
        means = RunServices(
            skill=pack,
            target=TargetThread(target, DATABASE_UNAVAILABLE),
            scanner=create_scanner(pack, target, self.settings.hosts_folder),
            seats=create_seats(self.lineup, self.bases, self.http, self.queues, traced=bool(self.settings.otlp)),
            worker=self.name,
            history=StoredRunHistory(self.database, self.store, run_id),
            approvals=self.approvals,
            recipes=load_folder_and_extra_recipes(self.settings.fix_recipes_folder, self.settings.recipes),
            key=open_notary(self.settings.data, self.database).key.public,
            clock=self.clock.now,
        )
        return Run(state, self._open_log(run_id), means)

    def _load_skill(self, state: RunState) -> Skill:
        """Return the skill that the run started with, or before its start, the skill with the host's site values."""
        assert state.request
        if state.started:
            return load_skill_with_run_parameters(state)
        return load_skill_with_site_values(state.request.skill, state.request.host, self.database)

    def _acquire_run_ownership(self, run_id: str, epoch: int) -> Ownership:
        """Take the run's lease if nodes share the database. A read-only run does not claim the host."""
        if not self.leases:
            return ALONE
        begun = fold_events(self.store.read_events(run_id, upto=1)).request
        assert begun
        host = begun.host
        folder_id = read_or_create_folder_id(self.settings.data) if is_fixture(host) else ""
        claim = self.leases.acquire(run_id, host, epoch, folder_id)
        self.writer.lost.discard(run_id)
        files = HostFolders(self.database, self.settings.hosts_folder)
        return Ownership(
            fence=self.leases.create_lease_check_before_change(run_id),
            fencing_token=claim if begun.mode in ("auto", "review") else 0,
            load_folder=partial(files.match_local_folder_to_database, host),
            save_folder=partial(files.store_folder, host, self.leases.create_lease_guard(run_id)),
            hand_over=partial(
                accepted_runs_offered_to_queue.hand_unreachable_host_run_to_other_nodes,
                self.database,
                self.leases,
                self.durable,
                run_id,
            ),
            has_other_nodes=accepted_runs_offered_to_queue.create_other_node_can_take_run_check(
                self.database, self.leases, run_id
            ),
        )


def create_random_run_id() -> str:
    return secrets.token_hex(4)
