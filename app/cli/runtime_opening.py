"""Open a runtime for the duration of a command, with its lock, line-up and engines."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path

import httpx

from app.candidates.recipe_file_reader import load_folder_and_extra_recipes
from app.config import Settings
from app.engines.launch.engine_fleet import run_fleet
from app.engines.simulator_process import SimulatorProcess, run_simulator
from app.errors import BadInput
from app.events.approval_policy import ApprovalPolicy
from app.evidence.external_log_receipt_by_command import parse_hook_command_json
from app.lineups.model import Lineup
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.approval_policy_file import read_approvals
from app.runtime.data_folder import create_private_folder, hold_lock
from app.runtime.runtime import Runtime
from app.runtime.startup_and_shutdown import create_runtime


@asynccontextmanager
async def open_runtime(settings: Settings, lineup: Lineup) -> AsyncIterator[Runtime]:
    approvals = _load_approval_policy(settings)
    parse_hook_command_json(settings.log_hook)  # fail now instead of at the first pack
    load_folder_and_extra_recipes(settings.fix_recipes_folder, settings.recipes)  # nor at the first run
    create_private_folder(settings.data)
    launches = any(engine.launch for engine in lineup.engines.values())
    # A shared database needs no lock, but only one process may launch and adopt engines in this folder.
    with hold_lock(settings.lock_path) if launches or not settings.database_url else nullcontext():
        known = {engine.name: engine.addresses for engine in lineup.engines.values() if engine.addresses}
        played = [name for name in lineup.engines if name not in known]
        async with AsyncExitStack() as stack:
            simulator = await stack.enter_async_context(_open_simulator(settings, played)) if played else None
            # One client for everything: each new one loads the trusted CAs, which takes 25 ms.
            http = await stack.enter_async_context(httpx.AsyncClient(limits=httpx.Limits(max_connections=64)))
            launched = await stack.enter_async_context(run_fleet(lineup.engines, settings.data, http))
            bases = known | (simulator.bases if simulator else {})
            starting = create_runtime(settings, lineup, http, bases, simulator, launched, approvals)
            yield await stack.enter_async_context(starting)


def _load_approval_policy(settings: Settings) -> ApprovalPolicy | None:
    """Load the approval policy. Raise BadInput if it needs two people and sign-in is off."""
    if not settings.approvals:
        return None
    policy = read_approvals(Path(settings.approvals))
    if policy.max_people > 1 and settings.kind == "serve" and settings.is_sign_in_off:
        why = "and without sign-in Temper cannot tell people apart: start with --sign-in."
        raise BadInput(f"{settings.approvals} requires two people for some changes, {why}")
    return policy


def load_lineup(settings: Settings) -> Lineup:
    lineup = read_lineup(require_lineup_path(settings.lineup))
    return lineup.to_attached() if settings.attach else lineup


def _open_simulator(settings: Settings, engines: list[str]) -> AbstractAsyncContextManager[SimulatorProcess]:
    return run_simulator(require_lineup_path(settings.lineup), engines, settings.speed, settings.data / "simulator.log")
