import pytest

from app.targets.effects.legal_notice_protection import PLACES, build_notice_asks_for_file_and_sshd
from tests.targets.effects.change import lost

NOTICE = "Authorised use only.\nAll activity is recorded.\n"
CHOSEN = "Leave this system unless you may use it."
LONG = (
    "You are accessing a system of the owner.\n\n-The owner may look at anything at any time.\n-By going on you agree."
)


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    "now", ["", "\n", "Welcome, everybody!\n", "Authorised use only.\n", "\\S\n", f"{CHOSEN} not\n"]
)
def test_a_notice_is_neither_emptied_nor_cut_nor_exchanged(path, now):
    assert "the notice may not" in lost({path: NOTICE}, {path: now})
    assert "the notice may not" in lost(
        {path: NOTICE}, {path: now}, *build_notice_asks_for_file_and_sshd(f"Write `{CHOSEN}`")
    )


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    "text",
    [
        f"word for word: `{CHOSEN}`",
        f"login_banner_text='^({CHOSEN[:-1]}\\.|another)$'",
        f'Edit the "/etc/issue" file, which everybody sees before a login, and write the words:\n\n"{LONG}"',
    ],
)
def test_it_may_become_the_one_that_the_rule_or_the_site_chose(path, text):
    wanted = LONG if LONG in text else CHOSEN
    text = text.replace("system ", "system[\\s\\n]+") if "=" in text else text
    assert lost({path: NOTICE}, {path: f"{wanted}\n"}, *build_notice_asks_for_file_and_sshd(text)) == ""


BLANK = r"(?:[\n]+|(?:\\n)+)"
"""How content writes a break between two paragraphs: its own alternative is no other notice."""


def test_a_notice_of_several_paragraphs_is_chosen_as_a_whole():
    first, *others = LONG.split("\n\n", maxsplit=1)[0].split(), *LONG.split("\n\n")[1:]
    pattern = "^(" + r"[\s\n]+".join(first) + BLANK + BLANK.join(r"[\s\n]+".join(one.split()) for one in others)
    asks = build_notice_asks_for_file_and_sshd(f"login_banner_text='{pattern}|Another[\\s\\n]+notice)$'")
    assert lost({"/etc/issue": NOTICE}, {"/etc/issue": f"{LONG}\n"}, *asks) == ""
    assert "the notice may not" in lost({"/etc/issue": NOTICE}, {"/etc/issue": f"{' '.join(first)}\n"}, *asks)


@pytest.mark.parametrize(
    "greeting",
    [
        "\\S\nKernel \\r on an \\m\n",
        "Debian GNU/Linux 12 \\n \\l\n",
        "Debian GNU/Linux comes with ABSOLUTELY NO WARRANTY\n",
    ],
)
def test_what_a_distribution_ships_is_no_notice_and_may_become_the_chosen_one(greeting):
    chosen = build_notice_asks_for_file_and_sshd(f"Write `{CHOSEN}`")
    assert lost({"/etc/issue": greeting}, {"/etc/issue": f"{CHOSEN}\n"}, *chosen) == ""
    assert lost({"/etc/issue": greeting}, {"/etc/issue": f"{greeting}\n{CHOSEN}\n"}, *chosen) == ""
    assert lost({"/etc/issue": f"{greeting}{NOTICE}"}, {"/etc/issue": NOTICE}) == ""
    assert lost({"/etc/issue": greeting}, {"/etc/issue": "\n"}) == ""


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("before", [None, "", "\\S\nKernel \\r on an \\m\n"])
@pytest.mark.parametrize(
    "now",
    [
        "Welcome everyone, this host is open to all\n",
        "Welcome everyone\n",
        "Debian GNU/Linux is open to everyone \\n\n",
        f"{CHOSEN}\nCall 555 for a password.\n",
        f"\\S\n{CHOSEN} not\n",
    ],
)
def test_a_blank_file_takes_no_text_that_nobody_chose(path, before, now):
    stands = {} if before is None else {path: before}
    for asks in ((), build_notice_asks_for_file_and_sshd(f"Write `{CHOSEN}`")):
        assert "a text that neither the rule nor the site chose" in lost(stands, {path: now}, *asks)


SSHD = "/etc/ssh/sshd_config"


@pytest.mark.parametrize(
    ("was", "now", "motd", "refused"),
    [
        ("/etc/issue", "/etc/motd", "", True),
        ("/etc/issue", "/etc/motd", "Welcome to this fine host\n", True),
        ("/etc/issue", "/etc/issue.net", "", True),
        ("/etc/issue", "/etc/motd", NOTICE, False),
        ("/etc/issue", "/etc/motd", f"{CHOSEN}\n", False),
        ("/etc/issue.net", "/etc/motd", "", False),
        ("/etc/issue.net", "/etc/issue", "", False),
        ("none", "/etc/issue", "", False),
        ("none", "/etc/motd", "", False),
        ("/etc/issue", "none", "", True),
        ("/etc/ssh/notice", "/etc/issue", "", True),
    ],
)
def test_sshd_goes_on_to_show_the_notice_from_whatever_file(was, now, motd, refused):
    before = {SSHD: f"Banner {was}\n", "/etc/issue": NOTICE, "/etc/motd": motd}
    chosen = build_notice_asks_for_file_and_sshd(f"Write `{CHOSEN}`")
    assert bool(lost(before, {SSHD: f"Banner {now}\n"}, *chosen)) is refused
    block = "X11Forwarding no\nMatch User bob\n\tBanner"
    inside = {**before, SSHD: f"{block} {was}\n"}
    if not refused and CHOSEN not in motd:
        assert lost(inside, {SSHD: f"{block} {now}\n"}) == ""
    if refused:
        assert lost(inside, {SSHD: f"{block} {now}\n"}, *chosen)


def test_text_and_banner_may_change_in_one_answer_if_the_text_was_chosen():
    before = {SSHD: "Banner none\n", "/etc/issue": NOTICE, "/etc/motd": ""}
    after = {SSHD: "Banner /etc/issue\n", "/etc/issue": f"{CHOSEN}\n"}
    assert lost({**before, SSHD: "Banner /etc/issue.net\n", "/etc/issue.net": NOTICE}, after) != ""
    asks = build_notice_asks_for_file_and_sshd(f"Write `{CHOSEN}`")
    assert lost(before, after, *asks) == ""
    assert lost({**before, SSHD: "Banner /etc/issue.net\n", "/etc/issue.net": NOTICE}, after, *asks) == ""


def test_the_name_of_a_setting_is_no_notice():
    assert build_notice_asks_for_file_and_sshd("Set `Banner` to `/etc/issue`.") == frozenset()
