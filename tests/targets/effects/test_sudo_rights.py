import pytest

from app.targets.effects.order import Order
from app.targets.effects.sudo_rights import compare


def line(command, runas="root", words="EXEC", options=""):
    return f"ALL=({runas}) [{words}]{options} {command}"


@pytest.mark.parametrize(
    ("was", "now", "order"),
    [
        ("nothing", line("/a"), Order.WEAKER),
        (line("/a"), "nothing", Order.STRONGER),
        (line("/a"), line("/b"), Order.INCOMPARABLE),
        (line("/a"), f"{line('/a')} | {line('/a')}", Order.EQUAL),
        (line("ALL"), f"{line('ALL')} | {line('!/a')}", Order.STRONGER),
        (f"{line('ALL')} | {line('!/a')}", f"{line('!/a')} | {line('ALL')}", Order.WEAKER),
        (f"{line('ALL')} | {line('!/x/a')}", f"{line('ALL')} | {line('!/y/a')}", Order.INCOMPARABLE),
        (line("ALL", words="EXEC NOPASSWD"), line("ALL"), Order.STRONGER),
        (line("ALL", words="EXEC LOG_INPUT"), line("ALL"), Order.WEAKER),
        (line("ALL", words="EXEC"), line("ALL", words="SETENV"), Order.INCOMPARABLE),
        (line("ALL", "ALL"), line("ALL", "www"), Order.STRONGER),
        (line("ALL", "ALL"), line("ALL", "ALL : ALL"), Order.WEAKER),
        (line("ALL", "ALL, !root"), line("ALL", "ALL"), Order.WEAKER),
        (line("/a", options=" <CWD=/x>"), line("/a", options=" <CWD=/y>"), Order.INCOMPARABLE),
        (line("/a"), line("/a -x"), Order.STRONGER),
        (line("/a ^-x$"), line("/a -x"), Order.INCOMPARABLE),
        ("odd", "odder", Order.INCOMPARABLE),
        ("odd", "odd", Order.EQUAL),
    ],
)
def test_two_lists_compared(was, now, order):
    assert compare(was, now) is order


def test_a_list_beyond_all_measure_is_compared_by_its_text():
    long = " | ".join(line(f"/{number}") for number in range(400))
    assert compare(long, long) is Order.EQUAL
    assert compare(long, line("/1")) is Order.INCOMPARABLE
