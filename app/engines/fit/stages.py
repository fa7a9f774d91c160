"""Split of layers into pipeline stages, as in vLLM."""


def split_stages(layers: int, pp: int) -> tuple[range, ...]:
    """Split layers evenly over pipeline stages; the remainder goes before the last stage, which holds the head."""
    sizes = [layers // pp] * pp
    for extra in range(2, layers % pp + 2):
        sizes[-extra] += 1
    starts = [sum(sizes[:stage]) for stage in range(pp)]
    return tuple(range(start, start + size) for start, size in zip(starts, sizes, strict=True))
