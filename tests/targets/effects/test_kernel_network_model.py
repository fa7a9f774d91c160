"""The model of the kernel's network settings, compared with the kernel itself in a network namespace of its own."""

import random
import shutil
import subprocess

import pytest

from app.syntax import sysctl
from app.targets.effects.kernel_network_model import (
    PRESENT,
    KernelNetwork,
    list_interfaces,
    list_written_network_families_and_settings,
    load_writes,
)

SCRIPT = """
sed 's/#.*//' | while IFS= read -r line; do
  set -- $line
  [ "$2" = write ] || continue
  printf %s "$3" >"/proc/sys/$1"
done
cd /proc/sys/net
for one in ipv4/conf/*/* ipv6/conf/*/*; do printf '%s %s\\n' "$one" "$(cat "$one" 2>/dev/null)"; done
"""


def read_kernel(writes):
    """Return the settings of a new namespace's kernel after the writes; None where this account may not ask."""
    told = "".join(f"{key.translate(str.maketrans('./', '/.'))} write {value}\n" for key, value in writes)
    if not shutil.which("unshare"):
        return None
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", SCRIPT], input=told, capture_output=True, text=True, check=False, timeout=120
    )
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.count(" ") == 1)
    return found if done.returncode == 0 and "ipv4/conf/all/accept_redirects" in found else None


def make_writes(seed):
    draw = random.Random(seed)
    settings = ["accept_redirects", "forwarding", "rp_filter", "send_redirects", "accept_source_route", "log_martians"]
    keys = [f"net.ipv4.conf.{conf}.{one}" for conf in ("all", "default", "lo") for one in settings]
    keys += ["net.ipv4.ip_forward"] * 6
    keys += [f"net.ipv6.conf.{conf}.{one}" for conf in ("all", "default") for one in ("forwarding", "disable_ipv6")]
    return [(draw.choice(keys), draw.choice("01")) for _ in range(draw.randint(1, 12))]


def run_model(writes):
    """Return the model's settings with the namespace's only interface."""
    kernel = KernelNetwork(["lo"])
    for key, value in writes:
        kernel.write(key, value)
    return kernel


def test_the_model_ends_where_the_kernel_does():
    if read_kernel([]) is None:
        print("not compared with the kernel: this account may not make a network namespace")
        return
    start = read_kernel([])
    for seed in range(40):
        writes = make_writes(seed)
        found, kernel = read_kernel(writes), run_model(writes)
        for (family, conf, setting), value in kernel.values.items():
            path = f"{family}/conf/{conf}/{setting}"
            if conf == PRESENT or path not in found or start[path] != run_model([]).values[family, conf, setting]:
                continue  # a machine may start new namespaces with values of its own
            assert found[path] == value, (path, writes)


@pytest.mark.parametrize(("on", "redirects"), [("1", "0"), ("0", "1")])
def test_forwarding_turns_redirects_round(on, redirects):
    kernel = run_model([("net.ipv4.ip_forward", "1"), ("net.ipv4.conf.all.accept_redirects", "1")])
    kernel.write("net.ipv4.ip_forward", on)
    kernel = run_model([("net.ipv4.ip_forward", "1"), ("net.ipv4.ip_forward", on)])
    assert kernel.values["ipv4", "all", "accept_redirects"] == redirects
    assert kernel.values["ipv4", "lo", "forwarding"] == kernel.values["ipv4", "default", "forwarding"] == on


def test_a_write_that_changes_nothing_turns_nothing_round():
    kernel = run_model([("net.ipv4.conf.all.accept_redirects", "0"), ("net.ipv4.ip_forward", "0")])
    assert kernel.values["ipv4", "all", "accept_redirects"] == "0"


def test_a_default_reaches_interfaces_that_have_no_value_of_their_own():
    kernel = run_model([("net.ipv4.conf.lo.rp_filter", "1"), ("net.ipv4.conf.default.rp_filter", "2")])
    assert kernel.values["ipv4", "lo", "rp_filter"] == "1"
    assert kernel.values["ipv4", PRESENT, "rp_filter"] == "2"


@pytest.mark.parametrize("setting", ["forwarding", "disable_ipv6"])
def test_all_of_ipv6_reaches_default_and_interfaces(setting):
    kernel = run_model([(f"net.ipv6.conf.all.{setting}", "1")])
    assert {kernel.values["ipv6", conf, setting] for conf in ("all", "default", "lo")} == {"1"}


def test_a_router_ignores_redirects_and_most_advertisements():
    kernel = run_model([("net.ipv6.conf.all.forwarding", "1")])
    found = kernel.compute_effective_values_by_interface({("ipv6", "accept_redirects"), ("ipv6", "accept_ra")})
    assert set(found.values()) == {"0"}


def test_patterns_spare_what_a_line_states_and_files_name_their_interfaces():
    text = "net.ipv4.conf.all.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 2\nnet.ipv4.conf.eth0/1.log_martians = 1\n"
    loaded = sysctl.load_as_systemd([text])
    names = list_interfaces(key for key, _ in loaded.writes)
    kernel = load_writes(loaded, KernelNetwork(names))
    assert names == {"eth0.1"}
    assert [kernel.values["ipv4", conf, "rp_filter"] for conf in ("all", "default", "eth0.1")] == ["1", "2", "2"]
    assert list_written_network_families_and_settings(loaded) == {("ipv4", "rp_filter")} | {("ipv4", "log_martians")}
