from app.events.kinds import GpuSampled
from app.machine.measuring.gpu_memory import BoardCards
from app.machine.sampling.board import Board


async def test_the_board_of_this_process_is_read_as_it_stands():
    event = GpuSampled(
        gpu=0, name="NVIDIA L4", used_gib=21.9, total_gib=23.0, utilization=None, power_w=None, temperature_c=None,
        simulated=False,
    )  # fmt: skip
    board = Board(gpus={("", 0): (1.0, event)}, gpu_reason="a GPU is lost")
    cards = BoardCards(board)
    assert (await cards.read(), cards.reason) == ([event], "a GPU is lost")
