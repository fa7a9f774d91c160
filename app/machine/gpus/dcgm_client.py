"""GPUs of other machines through a DCGM exporter, which itself samples every few seconds."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import httpx

from app.machine.gpus import dcgm_text
from app.machine.gpus.gpu_reading import GpuReading

EVERY = 5.0
PATIENCE = 4.0
HOLD = 0.3
"""Seconds that a reading of all GPUs waits for this exporter."""
MOST_BYTES = 4 * 1024 * 1024


class DcgmExporter:
    def __init__(
        self, http: httpx.AsyncClient, url: str, clock: Callable[[], float] = time.monotonic, hold: float = HOLD
    ) -> None:
        self._http, self._url, self._clock, self._hold = http, url, clock, hold
        self._host = httpx.URL(url).host
        self._asked_at: float | None = None
        self._asking: asyncio.Task[list[GpuReading]] | None = None
        self.reason = ""

    async def read(self) -> list[GpuReading]:
        """Return new readings; empty between two scrapes, so that each is reported once."""
        now = self._clock()
        if self._asking is None and (self._asked_at is None or now - self._asked_at >= EVERY):
            self._asked_at = now
            self._asking = asyncio.create_task(self._scrape_exporter(), name=f"DCGM exporter {self._host}")
        if self._asking is None:
            return []
        await asyncio.wait({self._asking}, timeout=self._hold)
        if not self._asking.done():
            return []
        asked, self._asking = self._asking, None
        return asked.result()

    async def close(self) -> None:
        if self._asking:
            self._asking.cancel()
            await asyncio.wait({self._asking})

    async def _scrape_exporter(self) -> list[GpuReading]:
        began = self._clock()
        try:
            text = await self._fetch_text()
            told, said = await asyncio.to_thread(self._parse_readings_and_errors, text)
            problem = "" if told else "tells of no GPU: is this a DCGM exporter, and does it see the driver?"
        except httpx.HTTPStatusError as exc:
            problem = f"answers {exc.response.status_code}: look at its address and its access"
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            problem = f"does not answer ({type(exc).__name__}): start it, or open the way to it"
        except ValueError:
            problem = "tells no Prometheus text: is this a DCGM exporter?"
        if problem:
            self.reason = f"the DCGM exporter at {self._url} {problem}"
            return []
        self.reason = "; ".join(said)
        age = round(self._clock() - began, 1)
        return [replace(one, ages={"scrape": age}) if age else one for one in told]

    async def _fetch_text(self) -> str:
        async with self._http.stream("GET", self._url, timeout=PATIENCE) as answer:
            answer.raise_for_status()
            read = bytearray()
            async for piece in answer.aiter_bytes():
                read += piece
                if len(read) > MOST_BYTES:
                    raise ValueError(len(read))
        return read.decode("utf-8", "replace")

    def _parse_readings_and_errors(self, text: str) -> tuple[list[GpuReading], list[str]]:
        return dcgm_text.parse_dcgm_gpus(text, self._url, self._host), dcgm_text.describe_hardware_xid_errors(text)
