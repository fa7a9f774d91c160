"""Which layers a pipeline stage holds: vLLM's split."""


def stages_of(layers: int, pp: int) -> tuple[range, ...]:
    """Even shares. What remains goes to the stages before the last, which has the head to hold."""
    sizes = [layers // pp] * pp
    for extra in range(2, layers % pp + 2):
        sizes[-extra] += 1
    starts = [sum(sizes[:stage]) for stage in range(pp)]
    return tuple(range(start, start + size) for start, size in zip(starts, sizes, strict=True))
