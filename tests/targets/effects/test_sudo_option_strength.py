import pytest

from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.sudo_option_strength import compare_sudo_option

S, E, W, X = Strength.STRONGER, Strength.EQUAL, Strength.WEAKER, Strength.INCOMPARABLE


@pytest.mark.parametrize(
    ("name", "was", "now", "order"),
    [
        ("authenticate", "off", "", S),
        ("authenticate", "", "off", W),
        ("visiblepw", "", "on", W),
        ("use_pty", "on", "", W),
        ("use_pty", "", "on", E),
        ("timestamp_timeout", "off", "5", W),
        ("timestamp_timeout", "0", "off", E),
        ("timestamp_timeout", "", "15", W),
        ("timestamp_timeout", "", "5", E),
        ("timestamp_timeout", "5", "", W),
        ("timestamp_timeout", "5", "-1", W),
        ("timestamp_timeout", "-1", "60", S),
        ("timestamp_timeout", "5", "x", X),
        ("timestamp_timeout", "5", "\u0665", X),
        ("passwd_timeout", "5", "0", W),
        ("passwd_timeout", "", "30", W),
        ("passwd_timeout", "", "0", W),
        ("passwd_timeout", "30", "", W),
        ("passwd_tries", "", "2", S),
        ("passwd_tries", "1", "3", W),
        ("passwd_tries", "3", "0", X),
        ("timestamp_type", "", "global", W),
        ("listpw", "any", "always", S),
        ("targetpw", "on", "off", X),
        ("secure_path", "", "/tmp", X),
        ("env_keep", "A B", "A", S),
        ("env_keep", "(built-in)", "(built-in) A", W),
        ("env_keep", "(built-in)", "(built-in) -A", S),
        ("env_keep", "(built-in) -A B", "(built-in) B", W),
        ("env_keep", "A", "B", X),
        ("env_delete", "(built-in)", "(built-in) A", S),
        ("editor", "", "/bin/vi", X),
    ],
)
def test_two_values_compared(name, was, now, order):
    assert compare_sudo_option(name, was, now) is order
