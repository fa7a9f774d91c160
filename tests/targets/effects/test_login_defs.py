import pytest

from app.targets.effects.login_defs import PATH
from tests.targets.effects.change import lost


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("UMASK 0777", "UMASK 077"),
        ("UMASK 077", "UMASK 77"),
        ("UMASK 077", "UMASK 022\nUMASK 077"),
        ("UMASK 077", "UMASK 077\nUMASK 022"),
        ("umask 077\nUMASK 077", "UMASK 022\numask 077\nUMASK 077"),
        ("PASS_MAX_DAYS 30", "PASS_MAX_DAYS 60"),
        ("PASS_MAX_DAYS 30", "PASS_MAX_DAYS 0"),
        ("PASS_MAX_DAYS 30", "# nothing"),
        ("PASS_MAX_DAYS 30", "PASS_MAX_DAYS 30\nPASS_MIN_DAYS 30"),
        ("PASS_MIN_DAYS 7", "PASS_MIN_DAYS 1"),
        ("ENCRYPT_METHOD SHA512", "ENCRYPT_METHOD MD5"),
        ("SHA_CRYPT_MIN_ROUNDS 1000000", "SHA_CRYPT_MIN_ROUNDS 100000"),
        ("HOME_MODE 0400", "HOME_MODE 0750"),
        ("UID_MIN 1000", "UID_MIN 0"),
        ("PASS_MAX_DAYS 30", "PASS_MAX_DAYS 30\nPASS_MIN_DAYS \u00b2"),
    ],
)
def test_less_than_what_stands_is_weaker(was, now):
    assert lost({PATH: was}, {PATH: now})


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("UMASK 022", "UMASK 077"),
        ("UMASK 022", "UMASK 0077"),
        ("", "UMASK 027"),
        ("PASS_MAX_DAYS 99999", "PASS_MAX_DAYS 60"),
        ("", "PASS_MAX_DAYS 60"),
        ("PASS_MAX_DAYS 60", "PASS_MAX_DAYS 0x3c"),
        ("ENCRYPT_METHOD SHA256", "ENCRYPT_METHOD SHA512"),
    ],
)
def test_as_much_or_more_is_not(was, now):
    assert lost({PATH: was}, {PATH: now}) == ""
