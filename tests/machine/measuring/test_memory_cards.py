from app.machine.measuring.memory_cards import BoardCards
from app.machine.sampling.sample_board import Board
from tests.machine.samples import gpu_sample


async def test_the_board_of_this_process_is_read_as_it_stands():
    event = gpu_sample(used_gib=21.9)
    board = Board(gpus={("", 0): (1.0, event)}, gpu_reason="a GPU is lost")
    cards = BoardCards(board)
    assert (await cards.read(), cards.reason) == ([event], "a GPU is lost")
