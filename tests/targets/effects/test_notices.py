import pytest

from app.targets.effects.notices import PLACES, list_chosen_notices
from tests.targets.effects.change import lost

NOTICE = "Authorised use only.\nAll activity is recorded.\n"
CHOSEN = "Leave this system unless you may use it."


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    "now", ["", "\n", "Welcome, everybody!\n", "Authorised use only.\n", "\\S\n", f"{CHOSEN} not\n"]
)
def test_a_notice_is_neither_emptied_nor_cut_nor_exchanged(path, now):
    assert "the notice may not" in lost({path: NOTICE}, {path: now})
    assert "the notice may not" in lost({path: NOTICE}, {path: now}, *list_chosen_notices(f"Write `{CHOSEN}`"))


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("text", [f"word for word: `{CHOSEN}`", f"login_banner_text='^({CHOSEN[:-1]}\\.|another)$'"])
def test_it_may_become_the_one_that_the_rule_or_the_site_chose(path, text):
    text = text.replace("system ", "system[\\s\\n]+") if "=" in text else text
    assert lost({path: NOTICE}, {path: f"{CHOSEN}\n"}, *list_chosen_notices(text)) == ""


@pytest.mark.parametrize(
    "greeting",
    [
        "\\S\nKernel \\r on an \\m\n",
        "Debian GNU/Linux 12 \\n \\l\n",
        "Debian GNU/Linux comes with ABSOLUTELY NO WARRANTY\n",
    ],
)
def test_what_a_distribution_ships_is_no_notice(greeting):
    assert lost({"/etc/issue": greeting}, {"/etc/issue": NOTICE}) == ""
    assert lost({"/etc/issue": f"{greeting}{NOTICE}"}, {"/etc/issue": NOTICE}) == ""


def test_the_name_of_a_setting_is_no_notice():
    assert list_chosen_notices("Set `Banner` to `/etc/issue`.") == frozenset()
