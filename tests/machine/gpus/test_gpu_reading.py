"""Given several sources: each GPU once, from the foremost that knows it, and every reason."""

from app.machine.gpus.gpu_reading import CombinedGpus, GpuReading


class Source:
    def __init__(self, *looks, reason=""):
        self.looks, self.reason, self.closed = list(looks), reason, False

    async def read(self):
        return self.looks.pop(0)

    async def close(self):
        self.closed = True


def gpu(number, host="", uuid="", name="L4"):
    return GpuReading(number, name, host=host, uuid=uuid)


async def test_machines_stand_side_by_side():
    here, there = [gpu(0), gpu(1)], [gpu(0, "node7")]
    combined = CombinedGpus([Source(here, reason="one"), Source(there), Source([], reason="three")])
    assert await combined.read() == here + there
    assert combined.reason == "one; three"


async def test_a_gpu_that_two_tell_of_is_the_first_ones_even_in_a_look_in_which_that_is_silent():
    mine, same = gpu(0, uuid="GPU-x"), gpu(0, "me", uuid="GPU-x")
    combined = CombinedGpus([Source([mine], []), Source([same], [same])])
    assert await combined.read() == [mine]
    assert await combined.read() == []


async def test_a_simulated_gpu_stands_for_the_real_one_of_its_number():
    played, real = gpu(1, name="L4 (simulated)"), [gpu(0, uuid="GPU-a"), gpu(1, uuid="GPU-b")]
    assert [one.name for one in await CombinedGpus([Source([played]), Source(real)]).read()] == ["L4 (simulated)", "L4"]


async def test_all_are_closed_and_none_is_a_reason():
    sources = [Source(), Source()]
    await CombinedGpus(sources).close()
    assert all(source.closed for source in sources)
    assert "dcgm_urls" in CombinedGpus([]).reason
    assert await CombinedGpus([]).read() == []
