"""Create each role's seat from a line-up, with one client per replica."""

from functools import partial

import httpx

from app.engines.client import EngineClient, get_dialect, read_api_key
from app.engines.queue import EngineQueues
from app.events.event_field_types import Role
from app.lineups.model import Lineup
from app.loop.run_in_progress import RoleSeat


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
                EngineClient(
                    http,
                    base,
                    key=key,
                    name=f"Engine {engine.name}",
                    dialect=get_dialect(engine),
                    count_tokens=partial(queues.traffic.add_written_tokens, base.rstrip("/")),
                )
                for base in bases[engine.name]
            ),
            max_tokens=seat.max_tokens,
            max_model_len=engine.max_model_len,
            temperature=seat.temperature,
            sampling=lineup.get_sampling(role),
            queue=queues.get_queue(engine.name),
            traced=traced,
            precision=engine.precision,
            vllm=engine.vllm,
        )
    return taken
