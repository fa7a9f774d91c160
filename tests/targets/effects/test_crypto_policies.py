import pytest

from app.targets.effects.crypto_policies import CryptoPolicies
from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.weakened_setting_search import find_weakening_or_excess_objection
from tests.hostfiles import DictFiles

CONFIG = "/etc/crypto-policies/config"
MODULES = "/etc/crypto-policies/policies/modules"


def host(config, **modules):
    return DictFiles({CONFIG: config} | {f"{MODULES}/{name}.pmod": text for name, text in modules.items()})


def weaker(before, after, asks=frozenset()):
    return find_weakening_or_excess_objection([CONFIG], before, after, asks) is not None


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("FIPS", "FIPS:NO-ENFORCE-EMS"),
        ("FIPS", "DEFAULT"),
        ("FIPS", "FUTURE"),
        ("FIPS:OSPP", "FIPS"),
        ("DEFAULT", "LEGACY"),
        ("DEFAULT", "DEFAULT:SHA1"),
        ("DEFAULT", "DEFAULT:NOBODY-KNOWS"),
        ("DEFAULT", "DEFAULT\nLEGACY"),
        ("DEFAULT:NO-SHA1", "DEFAULT"),
        ("DEFAULT:no-sha1", "DEFAULT"),
        ("FUTURE", "DEFAULT"),
        ("DEFAULT", "MINE"),
    ],
)
def test_a_policy_that_is_not_stricter_is_refused(was, now):
    assert weaker(host(f"# ours\n{was}\n"), host(f"{now}\n"))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("LEGACY", "DEFAULT"),
        ("DEFAULT", "FUTURE"),
        ("DEFAULT", "DEFAULT:NO-SHA1"),
        ("DEFAULT:SHA1", "DEFAULT"),
        ("FIPS:NO-ENFORCE-EMS", "FIPS"),
        ("DEFAULT", "default # the same"),
    ],
)
def test_a_stricter_policy_is_accepted(was, now):
    assert not weaker(host(f"{was}\n"), host(f"{now}\n"))


def test_fips_is_for_the_rule_to_ask():
    assert weaker(host("DEFAULT\n"), host("FIPS\n"))
    assert not weaker(host("DEFAULT\n"), host("FIPS\n"), frozenset({"crypto-policies policy FIPS"}))


@pytest.mark.parametrize(
    ("was", "now", "is_weaker"),
    [
        ("", "cipher@SSH = -CHACHA20-POLY1305\n", False),
        ("cipher = -3DES-CBC -RC4-128\n", "cipher = -3DES-CBC\n", True),
        ("cipher = -3DES-CBC\n", "cipher = -3DES-CBC\nmac = -HMAC-MD5\n", False),
        ("cipher = -3DES-CBC\n", "", True),
        ("", "cipher = +RC4-128\n", True),
        ("", "hash = MD5\n", True),
        ("", "min_rsa_size = 3072\n", False),
        ("", "min_rsa_size = 1024\n", True),
        ("", "min_rsa_size = \u00b2\n", True),
        ("min_rsa_size = 4096\n", "min_rsa_size = 2048\n", True),
        ("arbitrary_dh_groups = 0\n", "arbitrary_dh_groups = 1\n", True),
        ("", "sha1_in_certs = 0\n", False),
        ("ssh_etm = 1\n", "ssh_etm = 0\n", True),
        ("", "anything_else = 1\n", True),
    ],
)
def test_a_module_in_force_counts_by_what_it_says(was, now, is_weaker):
    assert weaker(host("DEFAULT:SITE\n", SITE=was), host("DEFAULT:SITE\n", SITE=now)) is is_weaker


def test_a_module_that_is_not_named_is_of_no_effect():
    assert not weaker(host("DEFAULT\n", SITE="cipher = -RC4-128\n"), host("DEFAULT\n", SITE="cipher = +RC4-128\n"))


def test_a_base_that_nobody_knows_compares_with_nothing():
    assert CryptoPolicies().compare_values("policy", "FIPS", "MINE") is Strength.INCOMPARABLE
