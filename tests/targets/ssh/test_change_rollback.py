"""A host that could not be rolled back is changed for nobody but who says so, and then comes back all the same."""

import pytest

from app.errors import ActionFailed, EnvironmentUnusable
from app.events.event_field_types import SetOption, WriteFile
from app.targets import no_rollback_consent

SSHD = "/etc/ssh/sshd_config"
ACTIONS = [
    SetOption(path=SSHD, key="X11Forwarding", value="no"),
    WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n"),
]
LOCKOUT = SetOption(path=SSHD, key="RequiredRSASize", value="3072")
BY_RSA = pytest.mark.parametrize("host", ["ssh-rsa"], indirect=True)
"""Of 2048 bits."""
"""Our own key has 2048 bits."""
PATHS = frozenset(one.path for one in ACTIONS)
SMALL = "--size 65536 --tmpfs /var/lib"
NO_FOLDER = "--ro-bind /usr /var/lib"
NO_TIMER = "--ro-bind /dev/null /usr/bin/setsid"
WORDS = no_rollback_consent.build_consent_sentence("web")


@pytest.mark.parametrize(
    ("small", "why"),
    [(SMALL, "no room to write in"), (NO_FOLDER, "no journal can be kept"), (NO_TIMER, "no timer can be set")],
)
def test_the_refusal_says_what_is_to_be_said(host, opened, small, why):
    host.enters(small=small)
    for said in ("", "I accept that db cannot be rolled back", "yes"):
        with pytest.raises(EnvironmentUnusable, match=rf'{why}.*--without-rollback "{WORDS}"'):
            opened().prepare(consent=said)
    assert not (host.root / "etc/.temper-trial").exists()


def test_who_only_looks_says_nothing(host, opened):
    host.enters(small=NO_FOLDER)
    opened().prepare(changes=False)
    assert all(probe.ok for probe in opened().check_health() if probe.name.startswith("agent"))


def test_a_host_that_cannot_be_changed_at_all_is_not_a_matter_of_consent(host, opened):
    host.enters(small="--ro-bind /etc /etc")
    with pytest.raises(
        EnvironmentUnusable, match=r"Temper cannot change .*, so the run does not start.*/etc, or it is read-only"
    ):
        opened().prepare(consent=WORDS)


@pytest.mark.parametrize("small", [SMALL, NO_FOLDER, NO_TIMER])
def test_with_consent_the_images_are_here_alone_and_a_second_process_goes_by_them(host, opened, small):
    host.enters(small=small)
    target = opened()
    target.prepare(consent=WORDS)
    assert "which a person accepted" in target.confinement
    was = host.everything()
    target.apply("one", ACTIONS, PATHS)
    assert "X11Forwarding no" in host.read(SSHD)
    assert not (host.root / "var/lib/temper/journal/one").exists()
    after_a_crash = opened()
    assert after_a_crash.list_pending() == ["one"]
    assert after_a_crash.roll_back("one").differences == ()
    assert (host.everything(), after_a_crash.list_pending()) == (was, [])
    target.apply("two", ACTIONS, PATHS)
    target.commit("two")
    assert target.list_pending() == []


@BY_RSA
def test_a_lockout_is_undone_over_the_line_that_is_still_open(host, opened):
    host.enters(small=NO_FOLDER)
    target = opened()
    target.prepare(consent=WORDS)
    target.apply("lockout", [LOCKOUT], PATHS)
    assert not (target.check_health())[0].ok
    assert target.roll_back("lockout").differences == ()
    assert (target.check_health())[0].ok


def test_consent_is_for_one_run(host, opened):
    host.enters(small=NO_FOLDER)
    target = opened()
    target.prepare(consent=WORDS)
    with pytest.raises(EnvironmentUnusable, match="could not roll back"):
        target.prepare()
    _enter_anew(host, target)
    target.prepare()
    was = host.everything()
    _enter_anew(host, target, small=NO_FOLDER)
    with pytest.raises(ActionFailed, match="cannot be"):
        target.apply("one", ACTIONS, PATHS)
    assert host.everything() == was
    _enter_anew(host, target)
    target.apply("two", ACTIONS, PATHS)
    assert (host.root / "var/lib/temper/journal/two").is_dir()
    assert target.roll_back("two").differences == ()


def _enter_anew(host, target, **how):
    """The next script meets another disk: a shell that is open would keep the one that it was started on."""
    host.enters(**how)
    target.line.drop()
