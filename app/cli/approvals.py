"""`temper approvals check`: check an approval policy file before it is used."""

from pathlib import Path

from app.cli.listing import print_rows
from app.runs.approval_file import read_approvals
from app.runs.approval_table import build_approval_table, find_unreachable_rules


def check_approvals(file: Path, *, as_json: bool) -> None:
    policy = read_approvals(file)
    print_rows(build_approval_table(policy), "", as_json=as_json)
    if as_json:
        return
    for line in find_unreachable_rules(policy):
        print(f"line {line} never applies: an earlier rule already covers every change that it matches")  # noqa: T201
    print(f"In mode review, each change needs at least one person. sha256 {policy.sha256}")  # noqa: T201
