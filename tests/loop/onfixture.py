"""A whole run on the built-in host in this process, its roles answered from the simulator's script."""

import asyncio

import httpx
import msgspec

from app.engines.client import EngineClient
from app.engines.queue import EngineQueue
from app.engines.simulator.answer_script import ANSWERS, read_script
from app.engines.simulator.chunks import ChunkEncoder
from app.engines.simulator.reply_creation import ChatRequest, create_reply
from app.events.event_field_types import Budget, Sampling
from app.events.kinds import RunQueued
from app.events.log_writer import RunLog
from app.events.person_command import Command
from app.loop.drive import drive_run
from app.loop.run_in_progress import RoleSeat, Run, RunServices
from app.loop.state import RunState
from app.scanners.scanner import BuiltinScanner
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.target_thread import TargetThread
from tests.loop.test_approvals import Kept

SCRIPT = read_script(ANSWERS)
SCANNER = BuiltinScanner({rule.id: rule.check for rule in STIG.rules.values()})
ROLES = ("architect", "worker", "auditor", "sentry")


def answered(request):
    """As the simulated engine answers, all at once."""
    asked = msgspec.json.decode(request.content, type=ChatRequest)
    reply = create_reply(SCRIPT, asked, None, 4096)
    chunks = ChunkEncoder("a", "m", reply.prompt_tokens, usage=True, usage_on_each=False)
    said = [
        chunks.encode_opening(),
        *chunks.encode_pieces(reply.pieces, reply.completion_tokens),
        chunks.encode_finish(reply.finish_reason, reply.completion_tokens),
        chunks.encode_usage_if_requested_and_done(reply.completion_tokens),
    ]
    return httpx.Response(200, content=b"".join(said), headers={"content-type": "text/event-stream"})


class Person:
    """Says what the test says, and notes which commands the run has closed."""

    def __init__(self):
        self._said = asyncio.Queue()
        self.closed = []

    def says(self, verb, **more):
        said = {"by": "p", "reason": "", "approval": "", "actions": "", **more}
        self._said.put_nowait(Command(id=1, verb=verb, **said))

    async def list_open_commands(self):
        return [await self._said.get()]

    async def close(self, command):
        self.closed.append(command)

    async def wait_for_commands(self): ...


class OnFixture:
    def __init__(
        self, folder, *, host="fixture", queue=None, handler=answered, skill=STIG, scanner=SCANNER, target=None, **means
    ):
        self.target, self.kept, self.person = TargetThread(target or FixtureTarget(host, folder)), Kept(), Person()
        self._skill, self._scanner = skill, scanner
        self._queue, self._handler, self._means = queue or EngineQueue(), handler, means
        self.sampling = Sampling()

    async def run(self, *rules, run="r", **more):
        async with httpx.AsyncClient(transport=httpx.MockTransport(self._handler)) as http:
            client = EngineClient(http, "http://engine/v1")
            seats = {
                role: RoleSeat(role, "e", "m", (client,), 1200, 8192, 0.0, self.sampling, self._queue) for role in ROLES
            }
            means = RunServices(self._skill, self.target, self._scanner, seats, "w", **self._means)
            self.state = Run(RunState(), RunLog(run, self.kept), means)
            asked = {"mode": "auto", "budget": Budget(), **more}
            self.state.append(
                RunQueued(
                    host=self.target.name, skill=self._skill.name, rules=rules, lineup="l", simulated=True, **asked
                )
            )
            try:
                await drive_run(self.state, self.person)
            finally:
                await self.target.close()

    def events(self, kind=object):
        return [one.event for one in self.kept.lines if isinstance(one.event, kind)]
