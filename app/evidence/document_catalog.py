"""The list of papers that can be made from a run."""

from collections.abc import Callable
from dataclasses import dataclass

from app.evidence.ckl import build_ckl
from app.evidence.cklb import build_cklb
from app.evidence.oscal import build_oscal_poam, build_oscal_results
from app.evidence.playbook.ansible_role import build_playbook
from app.evidence.playbook.bash_script import build_script
from app.evidence.poam import build_emass_poam_csv, build_poam_csv, build_temper_poam_json
from app.evidence.report import build_report
from app.evidence.run_record import RunRecord
from app.evidence.xccdf_and_arf import build_arf, build_xccdf


@dataclass(frozen=True)
class Paper:
    format: str
    """Its name on the command line."""
    file: str
    media_type: str
    build: Callable[[RunRecord], bytes]
    explained: str
    packed: bool = True
    """True if evidence.zip contains it, since verify.py can check it against the events."""


_JSON, _XML, _CSV = "application/json", "application/xml", "text/csv"
PAPERS = (
    Paper("cklb", "checklist.cklb", _JSON, build_cklb, "Checklist for STIG Viewer 3, CKLB 1.0."),
    Paper("ckl", "checklist.ckl", _XML, build_ckl, "Checklist for STIG Viewer 2 and what reads its XML."),
    Paper("arf", "results.arf.xml", _XML, build_arf, "The verdicts before and after, as XCCDF results in ARF."),
    Paper("xccdf", "results.xccdf.xml", _XML, build_xccdf, "The last scan's verdicts as XCCDF results, alone."),
    Paper("poam-csv", "poam.csv", _CSV, build_poam_csv, "Plan of action and milestones: what is left, as a table."),
    Paper("poam-json", "poam.json", _JSON, build_temper_poam_json, "Plan of action and milestones, as JSON."),
    Paper("poam-emass", "poam.emass.csv", _CSV, build_emass_poam_csv, "The same plan under eMASS' headings."),
    Paper("oscal-poam", "poam.oscal.json", _JSON, build_oscal_poam, "The same plan as OSCAL 1.1."),
    Paper("oscal-ar", "results.oscal.json", _JSON, build_oscal_results, "The verdicts as OSCAL 1.1."),
    Paper(
        "ansible", "playbook.zip", "application/zip", build_playbook, "What passed, as an Ansible role.", packed=False
    ),
    Paper("bash", "harden.sh", "text/x-shellscript", build_script, "What passed, as a bash script.", packed=False),
    Paper("report", "report.html", "text/html", build_report, "The report, one page that prints."),
)
