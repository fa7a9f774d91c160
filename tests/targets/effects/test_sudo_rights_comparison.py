import pytest

from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.sudo_rights_comparison import compare_rights


def line(command, runas="root", words="EXEC", options=""):
    return f"ALL=({runas}) [{words}]{options} {command}"


@pytest.mark.parametrize(
    ("was", "now", "order"),
    [
        ("nothing", line("/a"), Strength.WEAKER),
        (line("/a"), "nothing", Strength.STRONGER),
        (line("/a"), line("/b"), Strength.INCOMPARABLE),
        (line("/a"), f"{line('/a')} | {line('/a')}", Strength.EQUAL),
        (line("ALL"), f"{line('ALL')} | {line('!/a')}", Strength.STRONGER),
        (f"{line('ALL')} | {line('!/a')}", f"{line('!/a')} | {line('ALL')}", Strength.WEAKER),
        (f"{line('ALL')} | {line('!/x/a')}", f"{line('ALL')} | {line('!/y/a')}", Strength.INCOMPARABLE),
        (line("ALL", words="EXEC NOPASSWD"), line("ALL"), Strength.STRONGER),
        (line("ALL", words="EXEC LOG_INPUT"), line("ALL"), Strength.WEAKER),
        (line("ALL", words="EXEC"), line("ALL", words="SETENV"), Strength.INCOMPARABLE),
        (line("ALL", "ALL"), line("ALL", "www"), Strength.STRONGER),
        (line("ALL", "ALL"), line("ALL", "ALL : ALL"), Strength.WEAKER),
        (line("ALL", "ALL, !root"), line("ALL", "ALL"), Strength.WEAKER),
        (line("/a", options=" <CWD=/x>"), line("/a", options=" <CWD=/y>"), Strength.INCOMPARABLE),
        (line("/a"), line("/a -x"), Strength.STRONGER),
        (line("/a ^-x$"), line("/a -x"), Strength.INCOMPARABLE),
        ("odd", "odder", Strength.INCOMPARABLE),
        ("odd", "odd", Strength.EQUAL),
    ],
)
def test_two_lists_compared(was, now, order):
    assert compare_rights(was, now) is order


def test_a_list_beyond_all_measure_is_compared_by_its_text():
    long = " | ".join(line(f"/{number}") for number in range(400))
    assert compare_rights(long, long) is Strength.EQUAL
    assert compare_rights(long, line("/1")) is Strength.INCOMPARABLE
