"""Create each role's seat from a line-up, with one client per replica."""

import httpx

from app.engines.client import EngineClient, read_api_key
from app.engines.queue import EngineQueues
from app.events.vocabulary import Role
from app.lineups.model import Lineup
from app.loop.run import RoleSeat


def create_seats(
    lineup: Lineup, bases: dict[str, tuple[str, ...]], http: httpx.AsyncClient, queues: EngineQueues, *, traced: bool
) -> dict[Role, RoleSeat]:
    taken = {}
    for role, seat in lineup.seats.items():
        engine = lineup.engines[seat.engine]
        key = read_api_key(engine)
        taken[role] = RoleSeat(
            role=role,
            engine=engine.name,
            model=engine.wire_name,
            replicas=tuple(
                EngineClient(http, base, key=key, name=f"Engine {engine.name}") for base in bases[engine.name]
            ),
            max_tokens=seat.max_tokens,
            max_model_len=engine.max_model_len,
            temperature=seat.temperature,
            sampling=seat.sampling,
            queue=queues.get_queue(engine.name),
            traced=traced,
            precision=engine.precision,
            vllm=engine.vllm,
        )
    return taken
