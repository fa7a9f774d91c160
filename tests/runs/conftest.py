import pytest

from tests.runs.doors import house_with_lab


@pytest.fixture
async def doors(tmp_path):
    async with house_with_lab(tmp_path / "data") as made:
        yield made
