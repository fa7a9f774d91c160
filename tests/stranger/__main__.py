"""python -m tests.stranger: a stranger lets loose on a server of its own, on loopback, and it ends by itself.

    python -m tests.stranger [--connections 2000] [--halves 2000] [--gigabytes 10] [--passwords 10000]

Prints what was tried, what was taken of it, and how the operator's page, the memory and the disk fared meanwhile.
"""

import argparse
import asyncio
import resource
import tempfile
from pathlib import Path

from tests.stranger.siege import Size, siege


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--halves", type=int, default=2000)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--passwords", type=int, default=10_000)
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384) if hard > 0 else 16384, hard))
    size = Size(asked.connections, asked.halves, int(asked.gigabytes * 2**30), asked.passwords)
    with tempfile.TemporaryDirectory() as folder:
        for line in asyncio.run(siege(Path(folder) / "data", size)).lines():
            print(line)


if __name__ == "__main__":
    main()
