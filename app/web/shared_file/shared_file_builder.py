"""Builds the shared file of an ended run, as a guest with a link sees the run, or as an operator does."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from app.errors import EnvironmentUnusable
from app.events.kinds import ItemStarted, TurnDelta, get_event_kind
from app.events.record import Recorded
from app.evidence.notary import Notary, Requester
from app.evidence.run_shrinking import read_whole_log
from app.evidence.signed_log_in_html_file import build_shared_log, check_shared_file_and_get_manifest
from app.evidence.verify import BrokenPack, compute_sha256
from app.lineups.model import Lineup
from app.machine.sampling.engine_outages_from_log import read_outages_except_unended_of_departed_engines
from app.machine.sampling.event_marks import read_event_marks
from app.machine.sampling.sample_thinning_by_age import Thinning
from app.machine.sampling.token_rates_of_one_run import compute_run_token_rates
from app.people.rights import WHO, Person
from app.skills.catalog import load_skill
from app.store.events import EventStore
from app.store.models import RunRow
from app.web.api.measured_samples_over_time import Mark, Samples, choose_requested_or_fitted_step, to_sample_series
from app.web.pages.engine_meters_and_gpu_cards import RunArchive, render_past_machine_gpus, render_past_meters
from app.web.pages.hosts_sharing_each_engine import Sharing
from app.web.pages.mission.item import build_item_context
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.mission.page_context import MissionView
from app.web.pages.mission.replay_stream import ItemJumps
from app.web.pages.mission.summary import READ as SUMMED
from app.web.pages.mission.summary import build_summary
from app.web.pages.mission.timeline import draw_timeline, fold_timeline
from app.web.pages.mission.turn_lane import ROLES
from app.web.pages.run_energy_table import build_energy_table
from app.web.pages.templating import render_template_to_text
from app.web.shared_file.asset_inlining import inline_assets
from app.web.shared_file.page_stream_recording import record_stream

MEDIA_TYPE = "text/html"
_MAIN = '<main id="main">', "</main>"


@dataclass(frozen=True)
class StoredRuns:
    """A run archive."""

    store: EventStore
    lineup: Lineup


def name_shared_file(run: str) -> str:
    return f"temper-{run}.html"


def issue_shared_file(
    archive: RunArchive, row: RunRow, notary: Notary, requester: Requester, *, prompts: bool
) -> bytes:
    """Return the file of an ended run, signed and noted in the audit record. Raise an error if it does not verify."""
    content = build_shared_file(archive, row, notary, prompts=prompts)
    try:
        manifest = check_shared_file_and_get_manifest(content, key=notary.key.public)
    except BrokenPack as exc:
        raise EnvironmentUnusable(f"run {row.id} cannot be shared: {exc}.") from exc
    told = "with prompts" if prompts else "without prompts"
    detail = f"events={manifest['events']} head={manifest['chain_head']} show={manifest['show']} {told}"
    notary.append_audit_line_once(
        f"run {row.id}", compute_sha256(content), requester, f"share: file of run {row.id}", detail
    )
    return content


def build_shared_file(archive: RunArchive, row: RunRow, notary: Notary, *, prompts: bool) -> bytes:
    log = read_whole_log(notary.database, row.id)
    scene = Scene(archive.lineup, load_skill(row.skill), "replay")
    # A guest's page has no forms, and shows prompts only to those with the right of an operator.
    before = WHO.set(Person("", "operator" if prompts else "viewer", "link", runs=(row.id,)))
    try:
        view = _build_view(archive, row, scene, log)
        show = msgspec.json.encode(_build_player_data(archive, row, scene, log))
        about = {"host": row.host, "simulated": row.simulated}
        shared = build_shared_log(log, show, about, notary.key, prompts=prompts)
        page = render_template_to_text("shared_file.html", nonce="", here="", shared=shared, log=log, **vars(view))
    finally:
        WHO.reset(before)
    return inline_assets(page).encode("utf-8", "replace")


def _build_player_data(archive: RunArchive, row: RunRow, scene: Scene, log: Sequence[Recorded]) -> dict[str, object]:
    """Return what the page plays and opens: frames, items and charts."""
    return {
        **record_stream(archive, scene, log).to_object(),
        "starts": [one.seq for one in log if isinstance(one.event, ItemStarted)],
        "items": _render_item_pages_by_rule(archive, row, log),
        "samples": _read_samples(archive, row, log).model_dump(mode="json"),
    }


def _render_item_pages_by_rule(archive: RunArchive, row: RunRow, log: Sequence[Recorded]) -> dict[str, str]:
    """Return the content of each item's page, by rule."""
    steady = [one for one in log if not isinstance(one.event, TurnDelta)]
    rules = build_summary(steady).state.items
    pages = {
        rule: render_template_to_text(
            "item.html", nonce="", here="", **build_item_context(archive.lineup, row, rule, steady)
        )
        for rule in rules
    }
    return {rule: page.partition(_MAIN[0])[2].rpartition(_MAIN[1])[0] for rule, page in pages.items()}


def _read_samples(archive: RunArchive, row: RunRow, log: Sequence[Recorded]) -> Samples:
    """Return the answer of /api/v1/samples about the time of the run, without the tokens of other runs."""
    begin, end = log[0].at, max(log[-1].at, log[0].at + 1)
    grid = Thinning(archive.store).read(begin, end, choose_requested_or_fitted_step(begin, end))
    marks = read_event_marks(archive.store, (row.id,), begin, end)
    sampled = {key: values for key, values in grid.to_series().items() if key.kind != "role"}
    sampled |= compute_run_token_rates(archive.store, row.id, grid, simulated=row.simulated)
    series = [to_sample_series(key, values) for key, values in sampled.items()]
    return Samples.from_source(grid, series=series, marks=[Mark.from_source(one) for one in marks])


def _build_view(archive: RunArchive, row: RunRow, scene: Scene, log: Sequence[Recorded]) -> MissionView:
    """Return the page at the end of the run, with its summary, as a replay."""
    mission, last = Mission(), log[-1]
    for one in log:
        mission.apply_event(one)
    line = fold_timeline(log)
    return MissionView(
        run=row.id,
        row=row,
        mode="ended",
        seq=last.seq,
        last=last.seq,
        over=True,
        jumps=ItemJumps(1, last.seq),
        simulated=row.simulated,
        no_model=mission.state.has_no_model,
        pace=mission.state.request.pace if mission.state.request else None,
        pieces=render_mission_parts(mission, scene),
        roles=ROLES,
        engines=tuple(archive.lineup.engines.values()),
        shares=dict.fromkeys(archive.lineup.engines, ""),
        meters=render_past_meters(archive, last.at, Sharing(archive.store).read_past_shares_by_engine(last.at)),
        gpus=render_past_machine_gpus(archive, last.at),
        now=round(last.at, 3),
        timeline=draw_timeline(
            line,
            last.at,
            read_outages_except_unended_of_departed_engines(archive.store, line.zero, last.at, archive.lineup.engines),
        ),
        time=round(line.to_axis_seconds(last.at), 1),
        summary=build_summary([one for one in log if get_event_kind(one.event) in SUMMED]),
        table=build_energy_table(archive, row),
        shareable=False,
    )
