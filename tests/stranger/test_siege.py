"""A small siege: the figures of a large one are printed by python -m tests.stranger."""

from tests.stranger.siege import Size, siege

SLOWEST, MORE_MEMORY, DISK = 1.0, 130.0, 10.0
MIB = 2**20


async def test_a_stranger_neither_fills_nor_deafens_nor_ends_the_server(tmp_path):
    told = await siege(tmp_path / "data", Size(connections=400, halves=400, body=600 * MIB, passwords=150, seconds=2))
    attacks = dict(told.attacks)
    _, quiet = attacks.pop("nobody")
    for name, (_, seen) in attacks.items():
        # On a machine that is busy with other things a page is slow by itself: then by that much more.
        assert seen.slowest < SLOWEST + 2 * quiet.slowest, (name, seen.slowest, quiet.slowest)
        assert seen.most_memory < quiet.most_memory + MORE_MEMORY, name
        assert seen.grown < DISK, name
    assert attacks["bytes of body"][0].taken < 64 * MIB  # what the kernel holds in between is counted, too
    assert attacks["wrong passwords"][0].taken == 5
    assert len(told.output.splitlines()) < 20
