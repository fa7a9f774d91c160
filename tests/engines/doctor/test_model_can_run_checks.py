"""An engine on the processor: what would keep it from starting here."""

from dataclasses import replace

import pytest

from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.files_and_environment_for_checks import LlamacppSupport, LocalInventory
from app.lineups.reader import read_lineup, require_lineup_path

LINEUP = read_lineup(require_lineup_path("cpu"))


def found(here, lineup=LINEUP):
    return [(one.check, one.severity) for one in diagnose_lineup(lineup, LocalInventory(llamacpp=here))]


@pytest.mark.parametrize(
    ("here", "finding"),
    [
        (LlamacppSupport(installed=False), ("llamacpp-not-installed", "stop")),
        (LlamacppSupport(missing={"smollm2-stig": "not there: fetch it."}), ("weights-missing", "stop")),
        (LlamacppSupport(lacks=("avx2",)), ("processor-too-old", "stop")),
        (LlamacppSupport(sizes_gib={"smollm2-stig": 9.0}, available_gib=8.0), ("does-not-fit", "stop")),
        (LlamacppSupport(sizes_gib={"smollm2-stig": 7.0}, available_gib=8.0), ("does-not-fit", "warn")),
    ],
)
def test_what_stops_it_is_said(here, finding):
    assert found(here) == [finding]


def test_a_machine_that_has_all_has_no_findings_and_none_of_vllms_checks_is_asked():
    assert found(LlamacppSupport(sizes_gib={"smollm2-stig": 0.1}, available_gib=8.0)) == []


def test_one_that_runs_elsewhere_needs_nothing_here():
    attached = replace(LINEUP, engines={name: one.to_attached() for name, one in LINEUP.engines.items()})
    assert found(LlamacppSupport(installed=False, missing={"smollm2-stig": "a: b."}), attached) == []
