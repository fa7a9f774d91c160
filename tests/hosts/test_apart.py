"""Two nodes, a database and a host, each a machine of its own with nothing in common but the wires between them.

Each node sees its own data folder and none of the others', has processes of its own, and reaches the database by one
wire and the host by another. What is done to the node at work is done in the middle of a change to the host.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from app.events.kinds import ActionRolledBack, RunResumed
from app.targets import host_registry
from tests.hosts.network import network
from tests.nodes.conftest import Process, Shared
from tests.nodes.test_takeover import once
from tests.postgres import FOR_SPEED, Postgres
from tests.targets.ssh.host import SshHost, needs

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(300)]

RULE = "V-257981"
"""Its first attempt is vetoed and taken back; its second holds."""
FROZEN_FOR = 30.0
AIM = 10.0
KEYS = "etc/ssh/ssh_host_"
"""Another on each host."""


class FarPostgres(Postgres):
    """On a machine of its own; this test looks into it by its socket, which no node can see."""

    def __init__(self, folder: Path, address: str, within: tuple[str, ...]) -> None:
        folder.mkdir()
        super().__init__(folder, *FOR_SPEED)
        self._settings = (*self._settings, f"listen_addresses={address}", f"unix_socket_directories={folder}")
        self._within, self._at = within, address
        with (folder / "data/pg_hba.conf").open("a") as allowed:
            allowed.write("host all all 10.213.1.0/24 trust\n")

    def start(self) -> None:
        options = [word for one in self._settings for word in ("-c", one)]
        as_it = ("setpriv", f"--reuid={self._user}", f"--regid={self._user}", "--clear-groups")
        command = [*self._within, *as_it, self._programs / "postgres", "-D", self.folder / "data", *options]
        with (self.folder / "log").open("a") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        ready = [self._programs / "pg_isready", "-q", "-h", self.folder, "-p", str(self._port), "-t", "20"]
        while subprocess.run(ready, check=False).returncode:
            assert self._server.poll() is None, self.said()

    def new(self, name: str) -> tuple[str, str]:
        """The address of a new database for this test, and for the nodes."""
        here = f"postgresql://temper@/{{}}?host={self.folder}&port={self._port}"
        with psycopg.connect(here.format("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")  # type: ignore[call-overload]  # a name of ours
        return here.format(name), f"postgresql://temper@{self._at}:{self._port}/{name}"


@dataclass
class NodeApart:
    """`unshare` waits for it; what is done to the node is done to its first process."""

    process: Process
    name: str
    numbers: list[int] = field(default_factory=list)

    @property
    def pid(self) -> int:
        outer = self.process.child.pid
        [inner] = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
        return int(inner)


class Apart:
    """The machines of one test."""

    def __init__(self, folder: Path, wires, server: FarPostgres, database: str) -> None:
        self.folder, self.wires = folder, wires
        here, there = server.new(database)
        self.shared = Shared(here, folder / "here")
        self._environment = {**os.environ, "TEMPER_DATABASE_URL": there, "PYTHONPATH": str(Path.cwd())}
        self.host = SshHost(
            folder / "host", address=wires.address("host", "hosts"), within=wires.within("host")
        ).start()
        (self.host.folder / "told").touch()

    def know(self, hosts: Path) -> None:
        host_registry.register_host(hosts, "web", self.host.endpoint(), self.host.known_host, "SHA256:x")

    @contextmanager
    def node(self, name: str):
        own, others = self.folder / name, [self.folder / other for other in ("one", "two", "here") if other != name]
        own.mkdir(exist_ok=True)
        if name == "one":
            self.know(own / "hosts")
        hide = "".join(f"mkdir -p {other} && mount -t tmpfs none {other} && " for other in others)
        alone = (
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            f'{hide}exec "$@"',
        )
        words = (sys.executable, "-m", "app", "worker", "--data", str(own), "--speed", "6")
        log = self.folder / f"{name}.log"
        with log.open("w") as errors, log.with_suffix(".out").open("w") as out:
            child = subprocess.Popen(
                [*self.wires.within(name), *alone, "sh", *words], stdout=out, stderr=errors, env=self._environment
            )
        one = NodeApart(Process(child, log), name)
        try:
            self.shared.until(lambda: child.poll() is not None or any("Temper" in line for line in one.process.said))
            assert child.poll() is None, log.read_text()
            yield one
        finally:
            child.kill()  # and by --kill-child all that it had begun
            child.wait()

    def refused(self, name: str) -> int:
        """How often the host told that node that it has been taken over from."""
        address = self.wires.address(name, "hosts")
        told = [line.split() for line in (self.host.folder / "told").read_text().splitlines()]
        return sum(at == address and code == "97" for _, at, code in told)

    def stands(self) -> dict[str, tuple]:
        """Everything on the host that a change may touch, by a way of this test's own."""
        root = f"{self.host.root}/"
        found = {path.removeprefix(root): state for path, state in self.host.everything().items()}
        return {path: state for path, state in found.items() if not path.startswith(KEYS)}

    def open_journals(self) -> list[str]:
        kept = self.host.root / "var/lib/temper/journal"
        marks = ("committed", "undone", "void")
        return [at.name for at in kept.glob("*/") if not any((at / mark).exists() for mark in marks)]

    def until_in_mid_change(self) -> None:
        """The host has the pre-images, and the clock that takes the change back by itself."""
        kept = self.host.root / "var/lib/temper/journal"
        late = time.monotonic() + 90
        while not any(kept.glob("*/armed")):
            assert time.monotonic() < late, (self.folder / "one.log").read_text()

    def knocked(self) -> bool:
        """Somebody waits at the host's door, and sshd has not opened it."""
        asked = (*self.wires.within("host"), "ss", "-Hltn", f"sport = :{self.host.port}")
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        return any(int(line.split()[1]) for line in said.splitlines())

    def end(self) -> None:
        self.host.stop()
        self.shared.database.dispose()


@pytest.fixture(scope="module")
def place():
    """The wires, and the database at one end of them."""
    needs()
    with ExitStack() as stack:
        wires = stack.enter_context(network())
        wires.machine("database", "database")
        wires.machine("host", "hosts")
        for name in ("one", "two"):
            wires.machine(name, "database", "hosts")
        folder = Path(stack.enter_context(_folder()))
        server = FarPostgres(folder / "database", wires.address("database", "database"), wires.within("database"))
        server.start()
        stack.callback(server.end)
        yield wires, server


@contextmanager
def _folder():
    with TemporaryDirectory(prefix="temper-apart-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield name


@pytest.fixture
def apart(place, tmp_path):
    wires, server = place
    made = Apart(tmp_path, wires, server, f"t{os.urandom(6).hex()}")
    yield made
    made.end()
    wires.mend("one", "database", "hosts")


@pytest.fixture(scope="module")
def undisturbed(place, tmp_path_factory):
    """The host as a run leaves it that nothing happens to."""
    wires, server = place
    made = Apart(tmp_path_factory.mktemp("calm"), wires, server, f"t{os.urandom(6).hex()}")
    try:
        with made.node("one"):
            made.know(made.shared.data / "hosts")
            made.shared.ask("web", RULE)
            made.shared.until(made.shared.ended)
        return made.stands()
    finally:
        made.end()


def killed(apart, one):
    os.kill(one.pid, signal.SIGKILL)


def frozen(apart, one):
    os.kill(one.pid, signal.SIGSTOP)


def cut_from_database(apart, one):
    apart.wires.cut("one", "database")


def cut_from_host(apart, one):
    apart.wires.cut("one", "hosts")


def cut_from_both(apart, one):
    apart.wires.cut("one", "database", "hosts")


def mended(apart, one, fault):
    if fault is frozen:
        os.kill(one.pid, signal.SIGCONT)
    elif fault is not killed:
        apart.wires.mend("one", "database", "hosts")


@pytest.mark.parametrize("fault", [killed, frozen, cut_from_database, cut_from_host, cut_from_both])
def test_another_goes_on_within_ten_seconds_and_the_host_does_nothing_more_for_the_first(apart, undisturbed, fault):
    shared = apart.shared
    with _in_mid_change(apart) as (one, two, run):
        fault(apart, one)
        began, told = time.monotonic(), time.time()
        shared.until(lambda: _resumed(shared, run))
        seconds = _resumed(shared, run)[0].at - told
        assert shared.owner(run) == two.process.node
        shared.until(shared.ended, patience=180)
        stands = apart.stands()
        time.sleep(max(0.0, FROZEN_FOR - (time.monotonic() - began)))  # the fault's own length
        mended(apart, one, fault)
        if fault is not killed:
            _back(apart, one, fault)
    print(f"\n{fault.__name__}: {seconds:.1f} s to the other's first event")
    assert seconds < AIM
    assert stands == undisturbed
    _as_undisturbed(apart, run, undisturbed)


def in_a_command(after):
    """Held there, so that it is under way for certain: what it is sent is sent, and nothing comes back."""

    def moment(apart, run):
        apart.host.holds_at(after)
        apart.shared.until(lambda: apart.host.held)
        yield
        apart.host.lets_go()
        yield

    moment.__name__ = f"in command {after + 1} from there"
    return moment


def in_a_login(apart, run):
    """The kernel has taken the connection, and sshd says nothing."""
    apart.shared.until(lambda: any(apart.shared.store.read_events(run, kinds=["action.applied"])))
    os.kill(apart.host.listener, signal.SIGSTOP)
    apart.shared.until(apart.knocked)
    yield
    os.kill(apart.host.listener, signal.SIGCONT)
    yield


def in_a_turn(apart, run):
    """Nothing is asked of the host, and what is thought meanwhile is not lost."""
    thinks = len(list(apart.shared.store.read_events(run, kinds=["turn.started"])))
    apart.shared.until(lambda: len(list(apart.shared.store.read_events(run, kinds=["turn.started"]))) > thinks)
    yield
    yield


MOMENTS = [*map(in_a_command, (0, 1, 2, 4, 7)), in_a_login, in_a_turn]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda one: one.__name__)
def test_whatever_is_under_way_when_the_wire_to_the_host_is_cut_another_goes_on(apart, undisturbed, moment):
    shared = apart.shared
    with _in_mid_change(apart) as (one, _, run):
        at = moment(apart, run)
        next(at)
        cut_from_host(apart, one)
        told = time.time()
        next(at)
        shared.until(lambda: _resumed(shared, run))
        [resumed, *_] = _resumed(shared, run)
        assert shared.owner(run) != one.process.node
        [*_, last] = [event for event in shared.store.read_events_without_deltas(run) if event.seq < resumed.seq]
        needed = max(told, last.at)
        print(f"\n{moment.__name__}: {resumed.at - told:.1f} s to the other's first event", end="")
        print(f", {resumed.at - needed:.1f} s from when the host was needed")
        shared.until(shared.ended, patience=180)
    assert resumed.at - needed < AIM
    _as_undisturbed(apart, run, undisturbed)


def test_what_the_one_that_wakes_within_its_change_still_sends_is_refused_by_the_host(apart, undisturbed):
    """The other has taken the change back and stands still: the file is as the late one left it, and it goes on."""
    shared = apart.shared
    with _in_mid_change(apart) as (one, two, run):
        os.kill(one.pid, signal.SIGSTOP)
        shared.until(
            lambda: any(
                isinstance(event.event, ActionRolledBack) for event in shared.store.read_events_without_deltas(run)
            )
        )
        os.kill(two.pid, signal.SIGSTOP)
        os.kill(one.pid, signal.SIGCONT)
        shared.until(lambda: apart.refused("one"))
        os.kill(two.pid, signal.SIGCONT)
        shared.until(shared.ended, patience=180)
    _as_undisturbed(apart, run, undisturbed)


def _as_undisturbed(apart, run, undisturbed):
    [row] = apart.shared.rows()
    assert (row.state, row.passed) == ("finished", 1), row.reason
    once(apart.shared, run)
    assert apart.stands() == undisturbed
    assert apart.open_journals() == []


@contextmanager
def _in_mid_change(apart):
    """Two nodes, and a run of the first that is in the middle of a change to the host."""
    with apart.node("one") as one, apart.node("two") as two:
        apart.know(apart.shared.data / "hosts")
        apart.shared.settle()
        run = _asked_of(apart, one, two)
        apart.until_in_mid_change()
        yield one, two, run


def _asked_of(apart, one, two):
    """A run that `one` has in hand: the other may be quicker to take it, and then it is asked who is who."""
    shared = apart.shared
    os.kill(two.pid, signal.SIGSTOP)
    run = shared.ask("web", RULE)
    shared.until(lambda: shared.owner(run) == one.process.node)
    os.kill(two.pid, signal.SIGCONT)
    return run


def _resumed(shared, run):
    return [event for event in shared.store.read_events_without_deltas(run) if isinstance(event.event, RunResumed)]


def _back(apart, one, fault):
    """It is of use again: under a new name where it was given up."""
    shared = apart.shared
    if fault is cut_from_host:
        assert one.process.node in shared.living()
        return
    shared.until(lambda: "gave" in one.process.log.read_text())
    shared.until(lambda: len(shared.living()) == 2 and one.process.node not in shared.living())
