"""NVML: one call at a time, its error as a sentence that says what to do, and its codes in words."""

from collections.abc import Callable
from typing import Any

import pynvml  # type: ignore[import-untyped]

UNSUPPORTED_CODES = (
    *(pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND),
    *(pynvml.NVML_ERROR_DEPRECATED, pynvml.NVML_ERROR_NOT_FOUND),
)
"""The GPU or driver lacks this sensor: the value is None, and nothing is wrong."""
REOPEN_CODES = frozenset({pynvml.NVML_ERROR_UNINITIALIZED, pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH})
"""Errors after which NVML must be reopened."""

_OF_A_GPU: dict[int, str] = {
    pynvml.NVML_ERROR_GPU_IS_LOST: "has fallen off the bus: look at dmesg for Xid, then reset it or reboot",
    pynvml.NVML_ERROR_NO_PERMISSION: "does not let this account read all of it: give it access to /dev/nvidia*",
    pynvml.NVML_ERROR_RESET_REQUIRED: "must be reset before it answers: nvidia-smi --gpu-reset, or reboot",
    pynvml.NVML_ERROR_IRQ_ISSUE: "gets no interrupts: look at dmesg, then reboot",
    pynvml.NVML_ERROR_INSUFFICIENT_POWER: "has too little power: look at its power cables",
}
_OF_ALL: dict[int, str] = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: (
        "no NVIDIA driver is installed here: GPU figures need one, "
        "or host and dcgm_urls in the line-up where the GPUs are another machine's"
    ),
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded: load it (modprobe nvidia), then look again",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "the NVIDIA driver was upgraded and the old one still runs: reboot",
    pynvml.NVML_ERROR_NO_PERMISSION: "this account may not read the GPUs: give it access to /dev/nvidia*",
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: "the NVIDIA driver is too old for NVML as it is asked here: upgrade it",
}


def _describe_error(error: pynvml.NVMLError, gpu: int | None = None) -> str:
    if gpu is not None and error.value in _OF_A_GPU:
        return f"GPU {gpu} {_OF_A_GPU[error.value]}"
    if error.value in _OF_ALL:
        return _OF_ALL[error.value]
    return f"NVML{'' if gpu is None else f', GPU {gpu}'}: {error}"


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
                self.troubles[_describe_error(exc, gpu)] = None
            return None

    def reset(self) -> None:
        self.troubles, self.refusals = {}, set()

    @property
    def reason(self) -> str:
        return "; ".join(self.troubles)


_THROTTLE_REASONS: dict[int, str] = {
    pynvml.nvmlClocksEventReasonApplicationsClocksSetting: "clocks set by hand",
    pynvml.nvmlClocksEventReasonSwPowerCap: "power cap",
    pynvml.nvmlClocksEventReasonSyncBoost: "sync boost",
    pynvml.nvmlClocksEventReasonSwThermalSlowdown: "thermal",
    pynvml.nvmlClocksEventReasonHwThermalSlowdown: "thermal, hardware",
    pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown: "power brake",
    pynvml.nvmlClocksEventReasonDisplayClockSetting: "display clocks",
    pynvml.nvmlClocksThrottleReasonBoardLimit: "board limit",
    pynvml.nvmlClocksThrottleReasonReliability: "reliability",
}
_THROTTLE_CAUSES = pynvml.nvmlClocksEventReasonHwThermalSlowdown | pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown


def describe_throttling(reason_bits: int) -> tuple[str, ...]:
    """Return the reasons except idle. Hardware slowdown is named only if its cause is not."""
    found = [word for bit, word in _THROTTLE_REASONS.items() if reason_bits & bit]
    if reason_bits & pynvml.nvmlClocksEventReasonHwSlowdown and not reason_bits & _THROTTLE_CAUSES:
        found.append("hardware slowdown")
    return tuple(found)
