import pytest

from app.targets.effects.faillock import PATH
from tests.targets.effects.change import lost


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("deny = 2", "deny = 5"),
        ("deny = 3", "deny = 0"),
        ("deny = 3", "deny = 65536"),
        ("unlock_time = 0", "unlock_time = 900"),
        ("unlock_time = never", "unlock_time = 600"),
        ("unlock_time = 900", "# nothing"),
        ("unlock_time = 900", "unlock_time = 900\nroot_unlock_time = 60"),
        ("even_deny_root", ""),
        ("", "local_users_only"),
        ("", "nodelay"),
        ("", "no_log_info = 0"),
        ("", "admin_group = wheel"),
        ("dir = /var/log/faillock", ""),
        ("fail_interval = 3600", "fail_interval = 900"),
    ],
)
def test_less_than_what_stands_is_weaker(was, now):
    assert lost({PATH: was}, {PATH: now})


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("deny = 10", "deny = 3"),
        ("deny = 3", "deny=3 # three"),
        ("deny = 3", "deny = 3\ndeny = x"),
        ("deny = 3", "deny = 3\nunlock_time = 999999999"),
        ("unlock_time = 900", "unlock_time = 0"),
        ("", "even_deny_root"),
        ("", "audit"),
    ],
)
def test_as_much_or_more_is_not(was, now):
    assert lost({PATH: was}, {PATH: now}) == ""
