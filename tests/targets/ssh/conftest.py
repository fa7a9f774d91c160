import pytest

from app.targets.ssh.ssh_target import SshTarget
from tests.targets.ssh.host import QUICK, ssh_host


@pytest.fixture
def host(tmp_path, request):
    with ssh_host(tmp_path / "there", getattr(request, "param", QUICK)) as started:
        yield started


@pytest.fixture
def opened(host, tmp_path):
    """Targets on the host, each as another process would open it."""
    targets = []

    def open_one(name="web", user="", **more):
        folder = tmp_path / "here" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "known_hosts").write_text(host.known_host)
        targets.append(
            SshTarget(
                name,
                folder,
                host.endpoint(user=user) if user else host.endpoint(),
                **{"timer": 60, "patience": 5, **more},
            )
        )
        return targets[-1]

    yield open_one
    for target in targets:
        target.close()
