"""An engine on the processor: what would keep it from starting here."""

from dataclasses import replace

import pytest

from app.engines.doctor.diagnose import diagnose
from app.engines.doctor.here import Here
from app.engines.llamacpp.here import LlamacppHere
from app.lineups.reader import find_lineup, read_lineup

LINEUP = read_lineup(find_lineup("cpu"))


def found(here, lineup=LINEUP):
    return [(one.check, one.severity) for one in diagnose(lineup, Here(llamacpp=here))]


@pytest.mark.parametrize(
    ("here", "finding"),
    [
        (LlamacppHere(installed=False), ("llamacpp-not-installed", "stop")),
        (LlamacppHere(missing={"smollm2-stig": "not there: fetch it."}), ("weights-missing", "stop")),
        (LlamacppHere(lacks=("avx2",)), ("processor-too-old", "stop")),
        (LlamacppHere(sizes_gib={"smollm2-stig": 9.0}, available_gib=8.0), ("does-not-fit", "stop")),
        (LlamacppHere(sizes_gib={"smollm2-stig": 7.0}, available_gib=8.0), ("does-not-fit", "warn")),
    ],
)
def test_what_stops_it_is_said(here, finding):
    assert found(here) == [finding]


def test_a_machine_that_has_all_has_no_findings_and_none_of_vllms_checks_is_asked():
    assert found(LlamacppHere(sizes_gib={"smollm2-stig": 0.1}, available_gib=8.0)) == []


def test_one_that_runs_elsewhere_needs_nothing_here():
    attached = replace(LINEUP, engines={name: one.attached() for name, one in LINEUP.engines.items()})
    assert found(LlamacppHere(installed=False, missing={"smollm2-stig": "a: b."}), attached) == []
