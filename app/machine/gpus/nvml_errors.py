"""NVML errors as sentences that say what to do."""

import pynvml  # type: ignore[import-untyped]

UNSUPPORTED_CODES = frozenset(
    {
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_DEPRECATED,
        pynvml.NVML_ERROR_NOT_FOUND,
    }
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


def describe_error(error: pynvml.NVMLError, gpu: int | None = None) -> str:
    if gpu is not None and error.value in _OF_A_GPU:
        return f"GPU {gpu} {_OF_A_GPU[error.value]}"
    if error.value in _OF_ALL:
        return _OF_ALL[error.value]
    return f"NVML{'' if gpu is None else f', GPU {gpu}'}: {error}"
