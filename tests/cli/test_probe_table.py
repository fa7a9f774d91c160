import io

from rich.console import Console

from app.cli.probe_table import print_comparison
from app.engines.fit.estimate import Estimate
from app.machine.measuring.figure_comparison import ComparedRow, ProbeComparison
from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import ProbeResult

NOW = ProbeResult(
    "p", 1.0, "l4", "big", 0, False, (), {}, (), problem="it ended at 8 streams", notes=("It answered somebody else.",)
)


def figure(value, provenance):
    return Measured("1x512.tok_s", value, "tok/s", provenance, "")


def test_each_number_carries_its_letter_and_what_to_know_stands_below():
    cells = (figure(19.1, "derived"), figure(15.1, "measured"), figure(None, "unsupported"), None)
    row = ComparedRow("1x512.tok_s", "speed, 1 × 512 tokens", "tok/s", 1, *cells)
    limit = Estimate(19.1, "derived", "300 ÷ 15.74")
    side = ProbeComparison(
        "big",
        "Gemma",
        0,
        (0, 1),
        "It fits.",
        fits=True,
        limit=limit,
        rows=(row,),
        now=NOW,
        before=NOW,
        changed=("vLLM: 1 → 2",),
    )
    out = io.StringIO()
    print_comparison(side, Console(file=out, width=80))
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines[0] == "Gemma, GPU 0 + 1"
    assert lines[2].split()[-7:] == ["≤", "19.1", "d", "15.1", "m", "—", "—"]
    assert lines[4:] == [
        "plan: It fits.",
        "speed limit of one stream: 19.1 tok/s, derived: 300 ÷ 15.74",
        "It answered somebody else.",
        "it ended at 8 streams",
        "changed since the previous probe: vLLM: 1 → 2",
    ]
