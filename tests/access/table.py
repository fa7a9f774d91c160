"""python -m tests.access.table > tests/access/rights.txt : after a new address, look at what changed."""

import asyncio
import tempfile
from pathlib import Path

from tests.access.walk import addresses, line

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for method, path in asyncio.run(addresses(Path(folder))):
            print(line(method, path))
