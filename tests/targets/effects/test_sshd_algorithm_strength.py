import pytest

from app.syntax import sshd_algorithms as built
from app.targets.effects.sshd_algorithm_strength import compare_algorithms
from app.targets.effects.strictness_comparison import Strength


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ("aes256-ctr,3des-cbc", "aes256-ctr", Strength.STRONGER),
        ("aes256-ctr", "aes256-ctr,3des-cbc", Strength.WEAKER),
        ("aes128-ctr", "aes128-ctr,aes192-ctr", Strength.EQUAL),
        ("aes128-ctr", "aes256-ctr", Strength.STRONGER),
        ("aes256-ctr", "aes256-gcm@openssh.com", Strength.INCOMPARABLE),
        ("hmac-md5", "hmac-sha2-512-etm@openssh.com", Strength.STRONGER),
        ("umac-128@openssh.com", "umac-64-etm@openssh.com", Strength.INCOMPARABLE),
        ("", "aes256-ctr", Strength.INCOMPARABLE),
        ("aes256-ctr", "", Strength.INCOMPARABLE),
        ("nobody-knows", "nobody-knows", Strength.EQUAL),
        ("nobody-knows", "or-this", Strength.INCOMPARABLE),
    ],
)
def test_lists_compare_by_what_the_weakest_client_could_bring_about(was, now, expected):
    assert compare_algorithms(was, now) is expected


@pytest.mark.parametrize("keyword", built.OF_DEBIAN_12)
def test_all_that_sshd_knows_is_no_stronger_than_what_it_offers_by_itself(keyword):
    kind = built.OF_DEBIAN_12[keyword]
    assert compare_algorithms(",".join(kind.offered), ",".join(kind.known)) in (Strength.WEAKER, Strength.INCOMPARABLE)
