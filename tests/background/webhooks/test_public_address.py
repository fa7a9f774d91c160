"""Where a webhook may lead, in every spelling of a place that is not for the public."""

import ipaddress

import pytest

from app.background.webhooks.public_address import AddressNotPublic, choose_address, explain_not_public, resolve_host

PUBLIC = ("8.8.8.8", "93.184.215.14", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808", "::ffff:8.8.8.8")
INSIDE = (
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:53aa:64c::1",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
)


@pytest.mark.parametrize("address", INSIDE)
def test_a_place_that_is_not_public(address):
    assert explain_not_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_place(address):
    assert explain_not_public(ipaddress.ip_address(address)) == ""


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost", "0", "::1"]
)
async def test_odd_spellings_lead_where_they_lead(host):
    found = await resolve_host(host, 80)
    with pytest.raises(AddressNotPublic, match=r"nothing is sent there unless an admin allows it"):
        choose_address(host, found, local=False)
    assert choose_address(host, found, local=True) == found[0]


def test_of_several_all_have_to_be_public():
    found = [ipaddress.ip_address(one) for one in ("8.8.8.8", "10.0.0.1")]
    with pytest.raises(AddressNotPublic, match=r"leads to 10\.0\.0\.1, which is a private network"):
        choose_address("hook.example", found, local=False)
    assert str(choose_address("hook.example", found[:1], local=False)) == "8.8.8.8"
