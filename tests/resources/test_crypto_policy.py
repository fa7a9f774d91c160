import pytest

from app.resources.crypto_policy import SetCryptoPolicy, judge_policies
from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.skills.stated_settings import find_stated_settings_joined_with_values
from app.targets.ssh.service_activator import list_services_to_reload
from tests.resources.case import KindCase, Sample

CASE = KindCase(
    samples=(
        Sample(
            SetCryptoPolicy(policy="FUTURE"),
            HostState("DEFAULT"),
            ResourceState("crypto_policy:FUTURE", "DEFAULT", "FUTURE"),
            ResourceState("crypto_policy:LEGACY", "DEFAULT", "LEGACY"),
        ),
    ),
    rule=RuleTexts("x", "$ sudo update-crypto-policies --set FUTURE"),
    prepare=r"""
mkdir -p /etc/crypto-policies/policies
touch /etc/crypto-policies/policies/FUTURE.pol
echo DEFAULT >/etc/crypto-policies/config
rm /bin && mkdir /bin && ln -s /usr/bin/sh /bin/sh
cat >/bin/update-crypto-policies <<'TOOL'
#!/bin/sh
case $1 in --show) cat /etc/crypto-policies/config ;; --set) echo "$2" >/etc/crypto-policies/config ;; esac
TOOL
chmod 0755 /bin/update-crypto-policies
""",
)


def judge(before, after):
    return judge_policies(ForeseenStates((ResourceState(f"crypto_policy:{after}", before, after),)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LEGACY", "DEFAULT"),
        ("DEFAULT", "FIPS"),
        ("DEFAULT:SHA1", "FIPS"),
        ("DEFAULT:NO-PSK", "FUTURE:NO-PSK"),
        ("DEFAULT", "DEFAULT:NO-SHA1"),
        ("FIPS", "FIPS:OSPP"),
        ("DEFAULT:SHA1", "DEFAULT:SHA1:NO-PSK"),
    ],
)
def test_a_policy_may_become_stricter(before, after):
    assert judge(before, after) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("DEFAULT", "LEGACY"),
        ("FIPS", "DEFAULT"),
        ("FUTURE", "FIPS"),
        ("DEFAULT", "EMPTY"),
        ("DEFAULT", "FIPS:AD-SUPPORT"),
        ("DEFAULT", "DEFAULT:OURS"),
        ("FIPS:OSPP", "FIPS"),
        ("DEFAULT:NO-PSK", "FUTURE"),
        ("LEGACY:NO-SHA1", "DEFAULT"),
    ],
)
def test_no_other_policy_may_come(before, after):
    assert judge(before, after).clause == "weakening"


def test_sshd_reads_it_within_the_change_so_that_the_new_login_meets_it():
    assert list_services_to_reload((), [SetCryptoPolicy(policy="FIPS")]) == ("sshd",)


def test_a_rule_that_names_a_policy_asks_for_it_where_no_scale_ranks_it():
    assert "crypto-policies policy FIPS" in find_stated_settings_joined_with_values(
        "$ sudo update-crypto-policies --set FIPS"
    )
