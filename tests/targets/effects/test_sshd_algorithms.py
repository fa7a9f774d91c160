import pytest

from app.syntax import sshd_algorithms as built
from app.targets.effects.order import Order
from app.targets.effects.sshd_algorithms import order


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ("aes256-ctr,3des-cbc", "aes256-ctr", Order.STRONGER),
        ("aes256-ctr", "aes256-ctr,3des-cbc", Order.WEAKER),
        ("aes128-ctr", "aes128-ctr,aes192-ctr", Order.EQUAL),
        ("aes128-ctr", "aes256-ctr", Order.STRONGER),
        ("aes256-ctr", "aes256-gcm@openssh.com", Order.INCOMPARABLE),
        ("hmac-md5", "hmac-sha2-512-etm@openssh.com", Order.STRONGER),
        ("umac-128@openssh.com", "umac-64-etm@openssh.com", Order.INCOMPARABLE),
        ("", "aes256-ctr", Order.INCOMPARABLE),
        ("aes256-ctr", "", Order.INCOMPARABLE),
        ("nobody-knows", "nobody-knows", Order.EQUAL),
        ("nobody-knows", "or-this", Order.INCOMPARABLE),
    ],
)
def test_lists_compare_by_what_the_weakest_client_could_bring_about(was, now, expected):
    assert order(was, now) is expected


@pytest.mark.parametrize("keyword", built.OF_DEBIAN_12)
def test_all_that_sshd_knows_is_no_stronger_than_what_it_offers_by_itself(keyword):
    kind = built.OF_DEBIAN_12[keyword]
    assert order(",".join(kind.offered), ",".join(kind.known)) in (Order.WEAKER, Order.INCOMPARABLE)
