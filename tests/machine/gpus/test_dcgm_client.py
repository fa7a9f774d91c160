"""Given what a DCGM exporter writes: readings of its machine's GPUs, or what to do about it."""

import asyncio
import contextlib

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.machine.gpus.dcgm_client import EVERY, DcgmExporter
from app.machine.gpus.dcgm_text import describe_hardware_xid_errors, parse_dcgm_gpus
from app.machine.gpus.gpu_reading import GpuReading

URL = "http://node7:9400/metrics"


def rows(gpu, *, extra="", host="node7", **values):
    """`values`: metric to (type, value)."""
    labels = f'gpu="{gpu}",UUID="GPU-{gpu}",device="nvidia{gpu}",modelName="NVIDIA L4",Hostname="{host}"{extra}'
    return "".join(
        f"# HELP {name} told by DCGM\n# TYPE {name} {kind}\n{name}{{{labels}}} {value}\n"
        for name, (kind, value) in values.items()
    )


FULL = rows(
    1,
    DCGM_FI_DEV_FB_USED=("gauge", 20480),
    DCGM_FI_DEV_FB_FREE=("gauge", 2560),
    DCGM_FI_DEV_FB_RESERVED=("gauge", 512),
    DCGM_FI_DEV_GPU_UTIL=("gauge", 93),
    DCGM_FI_DEV_POWER_USAGE=("gauge", 68.4),
    DCGM_FI_DEV_POWER_MGMT_LIMIT=("gauge", 72),
    DCGM_FI_DEV_GPU_TEMP=("gauge", 61),
    DCGM_FI_DEV_SM_CLOCK=("gauge", 2040),
    DCGM_FI_DEV_MEM_CLOCK=("gauge", 6251),
    DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION=("counter", 7_500_000),
    DCGM_FI_DEV_CLOCKS_EVENT_REASONS=("gauge", 4),
    DCGM_FI_DEV_ECC_DBE_VOL_TOTAL=("counter", 0),
    DCGM_FI_PROF_PCIE_RX_BYTES=("gauge", 12_500_000),
    DCGM_FI_PROF_PCIE_TX_BYTES=("gauge", 2_500_000),
    DCGM_FI_DEV_XID_ERRORS=("gauge", 0),
)
READING = GpuReading(
    gpu=1,
    name="NVIDIA L4",
    used_gib=20.0,
    total_gib=23.0,
    utilization=93.0,
    power_w=68.4,
    temperature_c=61.0,
    host="node7",
    reserved_gib=0.5,
    power_limit_w=72.0,
    energy_j=7500.0,
    sm_mhz=2040.0,
    memory_mhz=6251.0,
    throttled=("power cap",),
    ecc_uncorrected=0,
    pcie_rx_mb_s=12.5,
    pcie_tx_mb_s=2.5,
    uuid="GPU-1",
    source=URL,
)


def test_each_metric_in_our_units():
    assert parse_dcgm_gpus(FULL, URL, "node7") == [READING]
    assert describe_hardware_xid_errors(FULL) == []


def test_what_the_exporter_does_not_tell_is_not_known():
    (reading,) = parse_dcgm_gpus(rows(0, DCGM_FI_DEV_GPU_TEMP=("gauge", 40)), URL, "node7")
    assert reading == GpuReading(0, "NVIDIA L4", temperature_c=40.0, host="node7", uuid="GPU-0", source=URL)


@pytest.mark.parametrize("blank", ["NaN", "2147483632", "140737488355328", "9223372036854775794", "-1", "+Inf"])
def test_dcgms_words_for_unknown_are_no_figures(blank):
    (reading,) = parse_dcgm_gpus(
        rows(0, DCGM_FI_DEV_POWER_USAGE=("gauge", blank), DCGM_FI_DEV_GPU_TEMP=("gauge", 40)), URL, "node7"
    )
    assert (reading.power_w, reading.temperature_c) == (None, 40.0)


def test_a_bus_rate_that_calls_itself_a_counter_is_not_believed():
    (reading,) = parse_dcgm_gpus(
        rows(0, DCGM_FI_PROF_PCIE_RX_BYTES=("counter", 5e6), DCGM_FI_DEV_PCIE_TX_THROUGHPUT=("gauge", 3000)), URL, ""
    )
    assert (reading.pcie_rx_mb_s, reading.pcie_tx_mb_s) == (None, 3.0)


def test_mig_slices_add_up_and_none_of_them_speaks_for_the_gpu():
    slices = [
        rows(
            0,
            extra=f',GPU_I_PROFILE="3g.40gb",GPU_I_ID="{n}"',
            DCGM_FI_DEV_FB_USED=("gauge", 1024),
            DCGM_FI_DEV_FB_FREE=("gauge", 39 * 1024),
            DCGM_FI_DEV_GPU_UTIL=("gauge", 50),
        )
        for n in (1, 2)
    ]
    (reading,) = parse_dcgm_gpus("".join(slices) + rows(0, DCGM_FI_DEV_POWER_USAGE=("gauge", 200)), URL, "node7")
    assert (reading.mig, reading.used_gib, reading.total_gib) == (True, 2.0, 80.0)
    assert (reading.utilization, reading.power_w) == (None, 200.0)


def test_rows_that_differ_by_pod_alone_are_one_gpu():
    pods = [rows(0, extra=f',pod="{pod}"', DCGM_FI_DEV_FB_USED=("gauge", 1024)) for pod in "ab"]
    assert [reading.used_gib for reading in parse_dcgm_gpus("".join(pods), URL, "node7")] == [1.0]


def test_a_slice_that_several_pods_share_counts_once():
    pods = [
        rows(0, extra=f',pod="{pod}",GPU_I_ID="{n}"', DCGM_FI_DEV_FB_USED=("gauge", 1024 * n))
        for pod, n in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert [reading.used_gib for reading in parse_dcgm_gpus("".join(pods), URL, "node7")] == [3.0]


def test_gpus_of_several_machines_behind_one_address():
    text = rows(0, host="b", DCGM_FI_DEV_GPU_TEMP=("gauge", 1)) + rows(0, host="a", DCGM_FI_DEV_GPU_TEMP=("gauge", 2))
    assert [(one.host, one.gpu) for one in parse_dcgm_gpus(text, URL, "x")] == [("a", 0), ("b", 0)]


def test_an_exporter_that_does_not_name_its_machine_is_known_by_its_address():
    (reading,) = parse_dcgm_gpus('DCGM_FI_DEV_GPU_TEMP{gpu="0"} 40\n', URL, "10.0.0.7")
    assert (reading.host, reading.name) == ("10.0.0.7", "GPU 0")


@pytest.mark.parametrize(("number", "told"), [(79, True), (48, True), (0, False), (31, False), (43, False)])
def test_an_xid_is_told_unless_a_program_brings_it_on_itself(number, told):
    said = describe_hardware_xid_errors(rows(3, DCGM_FI_DEV_XID_ERRORS=("gauge", number)))
    assert bool(said) is told
    assert all("GPU 3 of node7 reported Xid" in one for one in said)


@given(st.text(alphabet='DCGM_FI{}"=,# 0129.-\n', max_size=60))
def test_nonsense_is_refused_by_one_error_only(text):
    with contextlib.suppress(ValueError):
        assert parse_dcgm_gpus(text, URL, "h") == []


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


async def scraped(answer):
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = DcgmExporter(http, URL, hold=5.0)
        readings = await source.read()
        await source.close()
        return readings, source.reason


async def test_what_was_told_is_told_once_until_it_is_asked_again():
    clock, asked = Clock(), []

    def answer(request):
        asked.append(str(request.url))
        return httpx.Response(200, text=FULL)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = DcgmExporter(http, URL, clock, hold=5.0)
        assert await source.read() == [READING]
        clock.now = EVERY - 1
        assert await source.read() == []
        clock.now = EVERY
        assert await source.read() == [READING]
        await source.close()
    assert asked == [URL, URL]


async def test_an_exporter_that_takes_its_time_holds_up_no_look():
    come, hold = asyncio.Event(), Clock()

    async def answer(_request):
        await come.wait()
        return httpx.Response(200, text=FULL)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = DcgmExporter(http, URL, hold, hold=0.01)
        assert await source.read() == []
        come.set()
        source._hold = 5.0
        assert [one.used_gib for one in await source.read()] == [20.0]
        await source.close()


async def test_a_fault_of_one_scrape_is_told_once_and_the_next_one_is_made():
    clock, asked = Clock(), []

    def answer(_request):
        asked.append(clock.now)
        if clock.now == 0:
            raise RuntimeError("a fault of ours")
        return httpx.Response(200, text=FULL)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = DcgmExporter(http, URL, clock, hold=5.0)
        with pytest.raises(RuntimeError, match="a fault of ours"):
            await source.read()
        assert await source.read() == []
        clock.now = EVERY
        assert await source.read() == [READING]
        await source.close()
    assert asked == [0, EVERY]


def refused(_request):
    raise httpx.ConnectError("no")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refused, "does not answer (ConnectError)"),
        (lambda _: httpx.Response(401), "answers 401"),
        (lambda _: httpx.Response(200, text="<html>hello</html>"), "no Prometheus text"),
        (lambda _: httpx.Response(200, text="vllm:num_requests_running 1\n"), "no GPU"),
        (lambda _: httpx.Response(200, content=b"x" * 5_000_000), "no Prometheus text"),
    ],
)
async def test_a_wrong_address_is_said_plainly(answer, words):
    readings, reason = await scraped(answer)
    assert readings == []
    assert reason.startswith(f"the DCGM exporter at {URL} ")
    assert words in reason


async def test_an_xid_is_a_reason_beside_the_readings():
    text = FULL.replace('"} 0\n', '"} 79\n')
    readings, reason = await scraped(lambda _: httpx.Response(200, text=text))
    assert len(readings) == 1
    assert "Xid 79" in reason
