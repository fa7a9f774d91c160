"""The list of papers that can be made from a run."""

from collections.abc import Callable
from dataclasses import dataclass

from app.evidence.arf import arf
from app.evidence.case import Case
from app.evidence.ckl import ckl
from app.evidence.cklb import cklb
from app.evidence.emass import poam_emass
from app.evidence.oscal import oscal_poam, oscal_results
from app.evidence.playbook.role import playbook
from app.evidence.playbook.script import script
from app.evidence.poam import poam_csv, poam_json
from app.evidence.report import report
from app.evidence.xccdf import xccdf


@dataclass(frozen=True)
class Paper:
    format: str
    """Its name on the command line."""
    file: str
    media_type: str
    made: Callable[[Case], bytes]
    explained: str
    packed: bool = True
    """True if evidence.zip contains it, since verify.py can check it against the events."""


PAPERS = (
    Paper("cklb", "checklist.cklb", "application/json", cklb, "Checklist for STIG Viewer 3, CKLB 1.0."),
    Paper("ckl", "checklist.ckl", "application/xml", ckl, "Checklist for STIG Viewer 2 and what reads its XML."),
    Paper("arf", "results.arf.xml", "application/xml", arf, "The verdicts before and after, as XCCDF results in ARF."),
    Paper("xccdf", "results.xccdf.xml", "application/xml", xccdf, "The last scan's verdicts as XCCDF results, alone."),
    Paper("poam-csv", "poam.csv", "text/csv", poam_csv, "Plan of action and milestones: what is left, as a table."),
    Paper("poam-json", "poam.json", "application/json", poam_json, "Plan of action and milestones, as JSON."),
    Paper("poam-emass", "poam.emass.csv", "text/csv", poam_emass, "The same plan under eMASS' headings."),
    Paper("oscal-poam", "poam.oscal.json", "application/json", oscal_poam, "The same plan as OSCAL 1.1."),
    Paper("oscal-ar", "results.oscal.json", "application/json", oscal_results, "The verdicts as OSCAL 1.1."),
    Paper("ansible", "playbook.zip", "application/zip", playbook, "What passed, as an Ansible role.", packed=False),
    Paper("bash", "harden.sh", "text/x-shellscript", script, "What passed, as a bash script.", packed=False),
    Paper("report", "report.html", "text/html", report, "The report, one page that prints."),
)
