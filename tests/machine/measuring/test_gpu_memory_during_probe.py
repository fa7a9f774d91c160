"""Given these readings, this memory."""

from app.machine.gpus.gpu_reading import GpuReading
from app.machine.measuring.gpu_memory_during_probe import BoardCards, MemoryWatch, NoCards
from app.machine.measuring.probe_figures import FigureOrigin
from app.machine.sampling.sample_board import Board
from tests.machine.samples import gpu_sample

HERE = {("", 0): 0, ("", 1): 1}


class Cards:
    reason = ""

    def __init__(self, *looks):
        self._looks = list(looks)

    async def read(self):
        return self._looks.pop(0)


def card(gpu, used, host=""):
    return GpuReading(gpu=gpu, name="NVIDIA L4", used_gib=used, total_gib=23.0, host=host)


async def watched(cards, places, looks):
    watch = MemoryWatch(cards, places)
    for _ in range(looks):
        await watch.record_card_readings_once()
    return {one.name: one for one in watch.list_figures(FigureOrigin())}


async def test_loaded_peak_and_after_of_each_gpu_and_the_fullest_in_all():
    looks = [[card(0, 20.0), card(1, 20.1)], [card(0, 21.9), card(1, 20.2)], [card(0, 21.0), card(1, 20.1)]]
    found = await watched(Cards(*looks), HERE, 3)
    assert [found[f"{when}_gib.0"].value for when in ("loaded", "peak", "after")] == [20.0, 21.9, 21.0]
    assert found["vram_gib_per_gpu"].value == 21.9
    assert found["peak_gib.1"].value == 20.2


async def test_cards_of_others_and_of_other_machines_do_not_count():
    looks = [[card(0, 5.0), card(3, 9.0), card(3, 7.0, host="blade2")]]
    found = await watched(Cards(*looks), {("blade2", 3): 8}, 1)
    assert {name: one.value for name, one in found.items() if one.value} == {
        "loaded_gib.8": 7.0,
        "peak_gib.8": 7.0,
        "after_gib.8": 7.0,
        "vram_gib_per_gpu": 7.0,
    }


async def test_a_gpu_that_does_not_tell_is_unknown_with_the_reason():
    found = await watched(NoCards("no NVIDIA driver is installed here"), HERE, 1)
    assert {one.value for one in found.values()} == {None}
    assert {one.source for one in found.values()} == {"no NVIDIA driver is installed here"}
    half = await watched(Cards([card(0, 20.0), card(1, None)]), HERE, 1)
    assert (half["loaded_gib.0"].value, half["loaded_gib.1"].value, half["vram_gib_per_gpu"].value) == (
        20.0,
        None,
        None,
    )


async def test_an_engine_without_gpus_has_no_fullest_one():
    [whole] = (await watched(NoCards("no engine of this line-up uses a GPU"), {}, 1)).values()
    assert (whole.name, whole.value, whole.source) == ("vram_gib_per_gpu", None, "no engine of this line-up uses a GPU")


async def test_the_board_of_this_process_is_read_as_it_stands():
    event = gpu_sample(used_gib=21.9)
    board = Board(gpus={("", 0): (1.0, event)}, gpu_reason="a GPU is lost")
    cards = BoardCards(board)
    assert (await cards.read(), cards.reason) == ([event], "a GPU is lost")
