"""One NVML call at a time: its result, or None and the error."""

from collections.abc import Callable
from typing import Any

import pynvml  # type: ignore[import-untyped]

from app.machine.gpus.nvml_errors import UNSUPPORTED_CODES, describe_error


class NvmlQuery:
    def __init__(self) -> None:
        self.troubles: dict[str, None] = {}
        """Error sentences of this reading, without duplicates, in order."""
        self.refusals: set[int] = set()
        self.refusal = 0
        """NVML error code of the last call; 0 if it succeeded."""

    def __call__(self, gpu: int | None, question: Callable[..., Any], *words: Any, **named: Any) -> Any:
        self.refusal = 0
        try:
            return question(*words, **named)
        except pynvml.NVMLError as exc:
            self.refusal = exc.value
            self.refusals.add(exc.value)
            if exc.value not in UNSUPPORTED_CODES or gpu is None:
                self.troubles[describe_error(exc, gpu)] = None
            return None

    def reset(self) -> None:
        self.troubles, self.refusals = {}, set()

    @property
    def reason(self) -> str:
        return "; ".join(self.troubles)
