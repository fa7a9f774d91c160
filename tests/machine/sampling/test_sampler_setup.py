"""Which sources tell of a line-up's GPUs."""

from dataclasses import replace

import httpx
import pytest

from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.gpus.dcgm_client import DcgmExporter
from app.machine.gpus.gpu_reading import CombinedGpus
from app.machine.gpus.nvml_gpus import NvmlGpus
from app.machine.gpus.simulator_gpu_client import SimulatedGpus
from app.machine.sampling.sampler_setup import create_gpu_source

PLAYED = read_lineup(require_lineup_path("simulated"))
BASES = dict.fromkeys(PLAYED.engines, ("http://127.0.0.1:8000/v1",))
URL = "http://node7:9400/metrics"


def lineup(*, real=(), host="", urls=()):
    engines = {
        name: replace(engine, simulation=None) if name in real else engine for name, engine in PLAYED.engines.items()
    }
    return replace(PLAYED, engines=engines, gpus=tuple(replace(gpu, host=host) for gpu in PLAYED.gpus), dcgm_urls=urls)


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        (lineup(), [SimulatedGpus]),
        (lineup(real=BASES), [NvmlGpus]),
        (lineup(real=BASES, urls=(URL,)), [NvmlGpus, DcgmExporter]),
        (lineup(real=BASES, host="node7", urls=(URL, URL)), [DcgmExporter, DcgmExporter]),
        (lineup(real=BASES, host="node7"), []),
        (lineup(real=("gemma-31b",), urls=(URL,)), [SimulatedGpus, NvmlGpus, DcgmExporter]),
    ],
)
async def test_each_line_up_has_the_sources_that_its_gpus_need(asked, kinds):
    async with httpx.AsyncClient() as http:
        source = create_gpu_source(asked, BASES, http)
        parts = source._sources if isinstance(source, CombinedGpus) else [source]
        assert [type(part) for part in parts] == kinds
        await source.close()


async def test_beside_real_engines_only_the_simulated_ones_gpus_are_simulated():
    def answer(request):
        assert request.url.path == "/simulator/gpus"
        return httpx.Response(200, json={"gpus": []})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        source = create_gpu_source(lineup(real=("gemma-31b",)), BASES, http)
        assert [one.gpu for one in await source.read() if one.simulated] == [2, 3]
        await source.close()


async def test_a_line_up_without_gpus_has_no_source_and_says_so():
    alone = read_lineup(require_lineup_path("cpu"))
    async with httpx.AsyncClient() as http:
        source = create_gpu_source(alone, {"smollm2": ("http://127.0.0.1:8111/v1",)}, http)
        assert (await source.read(), source.reason) == ([], "no engine of this line-up uses a GPU")
        await source.close()
