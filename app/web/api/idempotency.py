"""Idempotency keys: the same request again returns the same run, across restarts and while in flight."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, NamedTuple

from fastapi import Depends, Response
from pydantic import BaseModel
from sqlalchemy import Engine
from sqlmodel import Session

from app.people.rights import get_name_to_record
from app.store import run_queries
from app.store.database_clock import database_time
from app.store.rollouts import RolloutRow
from app.store.session_shared_within_request import open_read_session
from app.web.api.problem import Problem
from app.web.deps import create_state_dependency

FIELD = "Idempotency-Key"
REPLAYED = "idempotency-replayed"
"""Header of an answer that started nothing, because the first request with the key did."""


REPLAY = {
    REPLAYED: {"schema": {"type": "string"}, "description": "true if an earlier request with the same key started it."}
}
"""The description of that header."""


class ClaimedId(NamedTuple):
    id: str
    is_made: bool
    """The run or rollout exists, so nothing is to be started. A crash may have come between storing key and run."""


class IdempotencyKeys:
    def __init__(self, database: Engine) -> None:
        self._database = database
        self._in_flight: set[str] = set()

    @staticmethod
    def scope_to_person(key: str) -> str:
        """Prefix the key with the person, so that two people can use the same key."""
        return f"{name} {key}" if (name := get_name_to_record("")) else key

    @asynccontextmanager
    async def mark_key_in_flight(self, key: str) -> AsyncIterator[None]:
        if key in self._in_flight:
            said = "The first request with this key is still in progress."
            raise Problem("key-in-flight", said, field=FIELD, headers={"retry-after": "1"})
        self._in_flight.add(key)
        try:
            yield
        finally:
            self._in_flight.discard(key)

    async def find_made(self, key: str | None, body: BaseModel, response: Response, *, prefix: str = "") -> str | None:
        """Return the run or rollout that an earlier request with the key and body made; None if there is none.

        Ask before the request is checked: what it names may have been removed since."""
        if key is None:
            return None
        made = await asyncio.to_thread(
            self._find_made_id_of_same_body, prefix + self.scope_to_person(key), _hash_body(body)
        )
        if made:
            response.headers[REPLAYED] = "true"
        return made

    @asynccontextmanager
    async def claim(
        self, key: str | None, body: BaseModel, new_id: str, response: Response, *, prefix: str = ""
    ) -> AsyncIterator[ClaimedId]:
        """Yield the id that the first request with the key got; `new_id` without a key."""
        if key is None:
            yield ClaimedId(new_id, is_made=False)
            return
        key = prefix + self.scope_to_person(key)
        async with self.mark_key_in_flight(key):
            claimed = await asyncio.to_thread(self.store_key_or_find_its_id, key, _hash_body(body), new_id)
            if claimed.is_made:
                response.headers[REPLAYED] = "true"
            yield claimed

    def _find_made_id_of_same_body(self, key: str, digest: str) -> str | None:
        with open_read_session(self._database) as session:
            row = run_queries.find_idempotency_row(session, key, database_time(session))
            if row is None or row.digest != digest:
                return None
            return row.run if _is_made(session, row.run) else None

    def store_key_or_find_its_id(self, key: str, digest: str, new_id: str) -> ClaimedId:
        with Session(self._database) as session, session.begin():
            row = run_queries.get_or_create_idempotency_row(session, key, digest, new_id, database_time(session))
            if row.digest != digest:
                said = f"This key was already used with another body, for run {row.run}."
                raise Problem("key-reused", said, field=FIELD)
            return ClaimedId(row.run, _is_made(session, row.run))


def _is_made(session: Session, id_of_key: str) -> bool:
    return bool(run_queries.find_run(session, id_of_key) or session.get(RolloutRow, id_of_key))


def _hash_body(body: BaseModel) -> str:
    return hashlib.sha256(body.model_dump_json().encode()).hexdigest()


TheKeys = Annotated[IdempotencyKeys, Depends(create_state_dependency("keys"))]
