"""The task that delivers webhooks. A slow webhook delays no other; order is kept within a run."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from itertools import count

from sqlalchemy import Engine
from sqlmodel import Session

from app.background.webhooks import delivery_body_and_signature
from app.background.webhooks.delivery_body_and_signature import Delivery
from app.background.webhooks.pinned_connection import AddressNotPublic, PinnedConnection
from app.events.bus import Bus
from app.events.kinds import KINDS
from app.events.record import Recorded, parse_line
from app.store import waivers, webhooks
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error, use_autocommit_if_shared
from app.store.events import EventStore
from app.store.periodic_background_task_base import BackgroundTask
from app.store.waivers import WaiverDue
from app.store.webhooks import DeliveryProgressRow, EventSubject, WebhookRow

log = logging.getLogger(__name__)

LOOK_EVERY = 0.25
NONE_YET = 1.0
"""Seconds between checks for new webhooks while there are none."""
AWAY_FOR = 2.0
ATTEMPTS = 12
LONGEST_WAIT = 600.0
HELD_SECONDS = 5.0
"""Seconds between checks whether a non-public address is now allowed or resolves elsewhere."""
PATIENCE = 10.0
CHUNK = 50
GIVE_UP_SECONDS = 24 * 3600.0
"""Seconds after a run's end when its undelivered events are dropped."""
_ALL = tuple(kind for kind in KINDS if kind != "turn.delta" and not kind.endswith((".sample", ".state")))


async def send_trial_and_get_problem(webhook: WebhookRow, now: float, delivery_id: str) -> str:
    """Send a test delivery. Return the problem, or an empty string on success."""
    try:
        async with aclosing(PinnedConnection(webhook.url, local=webhook.local, patience=PATIENCE)) as line:
            trial = delivery_body_and_signature.create_trial_delivery(
                webhook.secret, now, delivery_id, webhook.template
            )
            return await line.post(trial)
    except AddressNotPublic as exc:
        return str(exc)


class WebhookSender(BackgroundTask):
    name = "webhooks"

    def __init__(
        self,
        database: Engine,
        store: EventStore,
        bus: Bus,
        leads: Callable[[], bool] = lambda: True,
        *,
        version: Callable[[], int] | None = None,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`version` changes with the database, so that unchanged data is not queried again."""
        self._leads, self._patience, self._clock = leads, patience, clock
        self._version = version or count().__next__
        self._database, self._store, self._bus = database, store, bus
        self._seen: dict[tuple[str, str], int] = {}
        """Last event read per webhook and run in this process; older events need no query."""
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._held: dict[str, str] = {}
        """Of each webhook, the reason that was last logged."""

    async def close(self) -> None:
        await super().close()
        for task in (tasks := list(self._busy.values())):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_forever(self) -> None:
        known: Sequence[WebhookRow] = ()
        seen = None
        while True:
            try:
                version = self._version()
                if not self._leads():
                    known, version = (), -1
                elif known or version != seen:
                    known = await asyncio.to_thread(self._list_all_webhooks)
                seen = version
            except DATABASE_UNAVAILABLE as exc:
                log.warning("webhooks are not delivered", extra={"reason": shorten_database_error(exc)})
                known, seen = (), None
                await asyncio.sleep(AWAY_FOR)
            for webhook in known:
                if webhook.id not in self._busy:
                    sending = self._send_due_deliveries(webhook)
                    self._busy[webhook.id] = asyncio.create_task(sending, name=f"webhook {webhook.id}")
            await asyncio.sleep(LOOK_EVERY if known else NONE_YET)

    async def _send_due_deliveries(self, webhook: WebhookRow) -> None:
        try:
            runs = await asyncio.to_thread(self._list_runs_and_rollouts_to_deliver, webhook)
            ending = await asyncio.to_thread(self._list_due_waivers_and_progress, webhook)
            if runs or ending:
                # A separate client per webhook: no connection was opened to an unchecked address.
                connection = PinnedConnection(webhook.url, local=webhook.local, patience=self._patience)
                async with aclosing(connection) as line:
                    for run in runs:
                        await self._deliver_next_batch_of_run(webhook, run, line)
                    for due, row in ending:
                        delivery = delivery_body_and_signature.create_waiver_expiry_delivery(
                            due, webhook.secret, self._clock(), webhook.template
                        )
                        await self._post_and_advance_unless_retried_later(row, delivery, 1, line)
        except DATABASE_UNAVAILABLE as exc:
            reason = shorten_database_error(exc)
            log.warning("webhook is not delivered", extra={"webhook": webhook.id, "reason": reason})
        except Exception:
            log.exception("webhook failed with an internal error", extra={"webhook": webhook.id})
        finally:
            del self._busy[webhook.id]

    async def _deliver_next_batch_of_run(self, webhook: WebhookRow, run: str, connection: PinnedConnection) -> None:
        row = await asyncio.to_thread(self._read_progress, webhook.id, run)
        if abs(row.due_at) > self._clock():
            return
        batch, upto, of = await asyncio.to_thread(self._read_batch_log_end_and_subject, webhook, row)
        for recorded in batch:
            delivery = delivery_body_and_signature.create_signed_delivery(
                recorded, webhook.secret, self._clock(), simulated=of.simulated, template=webhook.template, host=of.host
            )
            sent = await self._post_and_advance_unless_retried_later(row, delivery, recorded.seq, connection)
            if sent is None:
                return
            row = sent
        whole = len(batch) < CHUNK
        self._seen[webhook.id, run] = upto if whole else batch[-1].seq
        if row.due_at < 0 and whole:
            done = DeliveryProgressRow(webhook=row.webhook, run=row.run, seq=row.seq)
            await asyncio.to_thread(self._store_progress, row, done)

    async def _post_and_advance_unless_retried_later(
        self, row: DeliveryProgressRow, delivery: Delivery, seq: int, connection: PinnedConnection
    ) -> DeliveryProgressRow | None:
        """Send a delivery and store the progress. Return it if delivered or given up, None if it is retried later."""
        try:
            problem = await connection.post(delivery)
        except AddressNotPublic as exc:
            self._log_failed_or_newly_held_back_delivery(row, str(exc))
            # No attempt was made, so none is counted: it waits until an admin allows the address or the run is too old.
            waiting = _create_progress_row(row, attempts=row.attempts, due_at=self._clock() + HELD_SECONDS)
            await asyncio.to_thread(self._store_progress, row, waiting, problem=str(exc))
            return None
        if problem and row.attempts + 1 < ATTEMPTS:
            attempts, wait = row.attempts + 1, min(2.0**row.attempts, LONGEST_WAIT)
            self._log_failed_or_newly_held_back_delivery(row, problem, attempts=attempts, again_in_s=wait)
            failed = _create_progress_row(row, attempts=attempts, due_at=self._clock() + wait)
            await asyncio.to_thread(self._store_progress, row, failed, problem=problem)
            return None
        if problem:
            self._log_failed_or_newly_held_back_delivery(row, problem, attempts=ATTEMPTS, given_up=True)
        done, dropped = _create_progress_row(row, seq=seq), int(bool(problem))
        counts = {"delivered": 1 - dropped, "dropped": dropped}
        await asyncio.to_thread(self._store_progress, row, done, problem=problem, **counts)
        return done

    def _log_failed_or_newly_held_back_delivery(self, row: DeliveryProgressRow, problem: str, **more: object) -> None:
        """Log a delivery that failed, or is held back for a new reason. Without the address: that may be a key."""
        if not more and self._held.get(row.webhook) == problem:
            return
        self._held[row.webhook] = problem
        fields = {"webhook": row.webhook, "run": row.run, "after_seq": row.seq, "problem": problem}
        log.warning("webhook delivery failed" if more else "webhook delivery held back", extra={**fields, **more})

    def _list_due_waivers_and_progress(self, webhook: WebhookRow) -> list[tuple[WaiverDue, DeliveryProgressRow]]:
        """Return waiver deliveries that are due and arose after the webhook was created."""
        kinds, now = webhook.kinds.split(), self._clock()
        with Session(self._database) as session:
            due = waivers.list_waivers_ending_soon_or_recently_ended(waivers.list_waivers(session), now)
            new = [one for one in due if one.since >= webhook.created_at and (not kinds or one.kind in kinds)]
            rows = [(one, webhooks.get_or_build_progress(session, webhook.id, one.notice_key)) for one in new]
        return [(one, row) for one, row in rows if not row.seq and row.due_at <= now]

    def _list_all_webhooks(self) -> list[WebhookRow]:
        with Session(use_autocommit_if_shared(self._database)) as session:
            return list(webhooks.list_webhooks(session))

    def _list_runs_and_rollouts_to_deliver(self, webhook: WebhookRow) -> list[str]:
        with Session(self._database) as session:
            runs = webhooks.list_runs_with_possibly_undelivered_events(
                session, webhook, self._clock() - GIVE_UP_SECONDS
            )
            again = webhooks.list_runs_to_redeliver(session, webhook.id)
            newest = webhooks.map_rollouts_to_deliver_to_newest_seqs(session, webhook, self._clock() - GIVE_UP_SECONDS)
        newest |= {run: self._bus.newest.get(run, 0) for run in runs}
        new = [name for name, upto in newest.items() if self._seen.get((webhook.id, name), -1) < upto]
        return [*again, *(run for run in new if run not in again)]

    def _read_progress(self, webhook_id: str, run: str) -> DeliveryProgressRow:
        with Session(self._database) as session:
            return webhooks.get_or_build_progress(session, webhook_id, run)

    def _read_batch_log_end_and_subject(
        self, webhook: WebhookRow, row: DeliveryProgressRow
    ) -> tuple[list[Recorded], int, EventSubject]:
        upto = self._store.read_last_link(row.run)
        kinds = tuple(webhook.kinds.split()) or _ALL
        lines = self._store.read_lines(row.run, row.seq, kinds=kinds, limit=CHUNK)
        with Session(self._database) as session:
            of = webhooks.find_subject_host_and_simulated(session, row.run)
        batch = [parse_line(line, digest) for _, line, digest in lines]
        return batch, upto[0] if upto else 0, of

    def _store_progress(
        self,
        previous: DeliveryProgressRow,
        row: DeliveryProgressRow,
        *,
        problem: str | None = None,
        delivered: int = 0,
        dropped: int = 0,
    ) -> None:
        counts = {"delivered": delivered, "dropped": dropped}
        with Session(self._database) as session, session.begin():
            webhooks.record_progress(session, row, previous=previous, problem=problem, **counts)


def _create_progress_row(
    row: DeliveryProgressRow, *, seq: int | None = None, attempts: int = 0, due_at: float = 0.0
) -> DeliveryProgressRow:
    """Return the progress after `row`. A run to redeliver keeps its mark, a due time below zero, until it is whole."""
    if row.due_at < 0:
        due_at = -due_at or webhooks.AGAIN
    seq = row.seq if seq is None else seq
    return DeliveryProgressRow(webhook=row.webhook, run=row.run, seq=seq, attempts=attempts, due_at=due_at)
