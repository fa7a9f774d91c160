import pytest

from app.errors import BadInput
from app.events.event_field_types import SetOption
from app.targets.ssh.registration import remove_temper_files_from_host

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
CONTENT = "/var/cache/temper/scap"


def everything(host):
    return {str(at) for folder in ("etc", "var") for at in (host.root / folder).rglob("*")}


def test_all_that_is_ours_goes_once_nothing_is_open(host, opened):
    was = everything(host)
    target = opened()
    target.prepare()
    target.apply("one", [NO_X11], frozenset({SSHD}))
    with pytest.raises(BadInput, match="the change one is open"):
        remove_temper_files_from_host(target.line, CONTENT)
    assert target.roll_back("one").differences == ()
    (host.root / CONTENT[1:]).mkdir(parents=True)
    (host.root / "etc/.temper-trial").write_text("left by a crash")
    (host.root / "etc/rcS.d/S99temper-undo-two").write_text("left by a crash")
    (host.root / "etc/ssh/.sshd_config.temper-new").write_text("left by a crash")
    assert remove_temper_files_from_host(target.line, CONTENT) == [
        "/etc/ssh/.sshd_config.temper-new",
        "/etc/.temper-trial",
        "/etc/rcS.d/S99temper-undo-two",
        CONTENT,
        "/var/lib/temper",
        "/var/cache/temper",
    ]
    (host.root / "var/cache").rmdir()
    assert everything(host) == was
    assert remove_temper_files_from_host(target.line, CONTENT) == []
