from app.web.access.connection_limiter import to_network_key
from app.web.access.password_checker import choose_login_limits


def test_strangers_are_counted_by_where_they_are_and_by_whom_they_want_to_be():
    found = choose_login_limits("jo", "192.0.2.7", browser="", known=False)
    assert set(found.limits) == {"from 192.0.2.7", "name jo"}
    assert found.stranger


def test_who_came_in_before_shares_no_count_with_strangers():
    strangers = set(choose_login_limits("jo", "192.0.2.7", browser="", known=False).limits)
    there = choose_login_limits("jo", "192.0.2.7", browser="", known=True)
    browser = choose_login_limits("jo", "192.0.2.7", browser="a1", known=True)
    assert not strangers & set(there.limits)
    assert not strangers & set(browser.limits)
    assert not set(there.limits) & set(browser.limits)
    assert not there.stranger
    assert not browser.stranger


def test_a_network_of_version_6_is_one_source():
    assert to_network_key("2001:db8:1:2::1") == to_network_key("2001:db8:1:2:ffff::") == "2001:db8:1:2::/64"
    assert to_network_key("2001:db8:1:3::1") != to_network_key("2001:db8:1:2::1")
    assert to_network_key("::ffff:192.0.2.7") == "192.0.2.7"
    assert to_network_key("x" * 5000) == "somewhere"
