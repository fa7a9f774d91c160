"""Why a GPU's clocks are reduced, in words."""

import pynvml  # type: ignore[import-untyped]

_WORDS: dict[int, str] = {
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
_CAUSES = pynvml.nvmlClocksEventReasonHwThermalSlowdown | pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown


def describe_throttling(reasons: int) -> tuple[str, ...]:
    """Return the reasons except idle. Hardware slowdown is named only if its cause is not."""
    found = [word for bit, word in _WORDS.items() if reasons & bit]
    if reasons & pynvml.nvmlClocksEventReasonHwSlowdown and not reasons & _CAUSES:
        found.append("hardware slowdown")
    return tuple(found)
