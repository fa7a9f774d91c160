from app.syntax.host_files_protocol import FileState
from app.targets.files_read_once_and_recorded import CachedFiles
from app.targets.health_probes import run_health_probes
from tests.targets.hosts import TODAY, host


class Counted:
    def __init__(self, files):
        self._files, self.asked = files, []

    def _of(self, what, where):
        self.asked.append((what, where))
        return getattr(self._files, what)(where)

    def read(self, path):
        return self._of("read", path)

    def state(self, path):
        return self._of("state", path)

    def glob(self, pattern):
        return self._of("glob", pattern)


class Changing:
    """Another file at every look."""

    looks = 0

    def state(self, path):
        self.looks += 1
        return FileState(b"%d" % self.looks, 0o600, "root:root")

    read = glob = state


def test_one_look_sees_one_host():
    glance = CachedFiles(Changing())
    assert glance.state("/etc/passwd") == glance.state("/etc/passwd")
    assert glance.state("/etc/passwd") != glance.state("/etc/group")


def test_all_questions_after_its_health_ask_a_host_for_nothing_twice():
    counted = Counted(host())
    run_health_probes(counted, TODAY)
    assert len(counted.asked) == len(set(counted.asked)) > 50
