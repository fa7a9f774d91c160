import httpx

from app.lineups.model import Gpu
from app.machine.gpus.gpu_reading import GpuReading
from app.machine.gpus.simulator_gpu_client import SimulatedGpus

CARD = {"memory_used_gib": 12.5, "memory_total_gib": 23.0, "utilization": 40, "power_w": 51.2, "temperature_c": 55}
GPUS = [Gpu(0, "NVIDIA L4", 23.0, 300), Gpu(1, "NVIDIA L4", 23.0, 300)]


async def read(answers):
    def answer(request):
        assert request.url.path == "/simulator/gpus"
        said = answers.get(request.url.host)
        return httpx.Response(200, json=said) if said else httpx.Response(500)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = SimulatedGpus(http, GPUS, {"big": ("http://a/v1",), "small": ("http://b/v1",)})
        return await source.read(), source.reason


async def test_each_engine_reports_its_own_cards():
    readings, reason = await read({"a": {"gpus": [{"index": 0, **CARD}]}, "b": {"gpus": [{"index": 1, **CARD}]}})
    assert readings[1] == GpuReading(1, "NVIDIA L4 (simulated)", 12.5, 23.0, 40, 51.2, 55, simulated=True)
    assert (len(readings), reason) == (2, "")


async def test_energy_and_limit_are_told_where_the_simulator_knows_them():
    card = {"index": 0, **CARD, "power_limit_w": 72.0, "energy_j": 1234.5}
    readings, _ = await read({"a": {"gpus": [card]}})
    assert (readings[0].power_limit_w, readings[0].energy_j) == (72.0, 1234.5)


async def test_a_card_whose_engine_is_gone_is_there_without_figures():
    readings, reason = await read({"a": {"gpus": [{"index": 0, **CARD}]}})
    assert readings[1] == GpuReading(1, "NVIDIA L4 (simulated)", total_gib=23.0, simulated=True)
    assert "small does not answer" in reason


async def test_nonsense_is_taken_for_silence():
    _, reason = await read({"a": {"gpus": [{"index": "no"}]}, "b": {"gpus": []}})
    assert "big does not answer" in reason
