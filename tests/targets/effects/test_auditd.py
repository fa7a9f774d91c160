import pytest

from app.targets.effects.auditd import PATH, Auditd
from tests.hostfiles import DictFiles
from tests.targets.effects.change import lost

SOUND = """log_format = ENRICHED
flush = INCREMENTAL_ASYNC
freq = 50
max_log_file = 8
num_logs = 5
max_log_file_action = ROTATE
space_left = 25%
space_left_action = email
admin_space_left = 5%
admin_space_left_action = single
disk_full_action = SUSPEND
"""


def changed(old, new):
    assert old in SOUND
    return lost({PATH: SOUND}, {PATH: SOUND.replace(old, new)})


@pytest.mark.parametrize("action", ["halt", "single", "HALT"])
@pytest.mark.parametrize("left", ["50%", "25%", "9999"])
def test_a_warning_ends_no_host(action, left):
    text = SOUND.replace("space_left_action = email", f"space_left_action = {action}")
    text = text.replace("\nspace_left = 25%", f"\nspace_left = {left}")
    assert "ends the host at space_left is never" in lost({PATH: SOUND}, {PATH: text})


@pytest.mark.parametrize("left", ["6%", "24%"])
def test_nor_is_it_ended_while_there_is_room(left):
    assert "ends the host at admin_space_left" in changed("admin_space_left = 5%", f"admin_space_left = {left}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("admin_space_left = 5%", "admin_space_left = 30%"),
        ("admin_space_left = 5%", "admin_space_left = 50\nspace_left = 0%"),
        ("freq = 50", "freq = 0"),
        ("freq = 50", "freq = x"),
        ("num_logs = 5", "num_logs = 1000"),
        ("log_format = ENRICHED", "log_format = JSON"),
        ("freq = 50", "unknown = 50\nfreq = 50"),
        ("freq = 50", "freq=50"),
        ("freq = 50", "freq = x\nfreq = 50"),
    ],
)
def test_it_has_to_start(old, new):
    files = DictFiles({PATH: SOUND.replace(old, new)})
    assert Auditd().read_settings(files)["starts"] == "no"
    assert changed(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("freq = 50", "freq = 500"),
        ("num_logs = 5", "num_logs = 3"),
        ("num_logs = 5", "num_logs = 999\nmax_log_file = 99"),
        ("space_left = 25%", "space_left = 20%"),
        ("space_left = 25%", "space_left = 75"),
        ("max_log_file_action = ROTATE", "max_log_file_action = KEEP_LOGS"),
        ("flush = INCREMENTAL_ASYNC", "flush = none"),
        ("disk_full_action = SUSPEND", "disk_full_action = IGNORE"),
        ("disk_full_action = SUSPEND", "disk_full_action = SUSPEND\noverflow_action = halt"),
    ],
)
def test_less_is_weaker(old, new):
    assert changed(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("disk_full_action = SUSPEND", "disk_full_action = HALT"),
        ("admin_space_left_action = single", "admin_space_left_action = halt"),
        ("admin_space_left_action = single", "admin_space_left_action = SINGLE"),
        ("flush = INCREMENTAL_ASYNC", "flush = incremental"),
        ("num_logs = 5", "num_logs = 20"),
    ],
)
def test_what_the_stig_asks_is_not(old, new):
    assert changed(old, new) == ""


def test_a_configuration_that_comes_with_its_package_weakens_nothing_and_has_to_start():
    assert lost({}, {PATH: SOUND}) == ""
    assert lost({}, {PATH: SOUND.replace("admin_space_left = 5%", "admin_space_left = 50%")})
