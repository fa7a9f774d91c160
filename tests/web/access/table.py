"""python -m tests.web.access.table > tests/web/access/rights.txt : after a new address, look at what changed."""

import asyncio
import tempfile
from pathlib import Path

from tests.web.access.walk import addresses, lines

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(lines(asyncio.run(addresses(Path(folder))))))
