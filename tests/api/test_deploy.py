"""Alert rules and the board speak of figures that there are."""

import json
import re
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
NAME = re.compile(r"\btemper_\w+")


def told(api):
    """Families, also those that have no samples yet."""
    return {line.split()[2] for line in api.get("/metrics").text.splitlines() if line.startswith("# TYPE")}


def test_the_alerts_are_of_figures_that_are_told_and_say_what_to_do(api):
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    families = told(api)
    assert len(group["rules"]) > 8
    for rule in group["rules"]:
        assert set(NAME.findall(rule["expr"])) <= families, rule["alert"]
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["what"].endswith(".")


def test_the_board_shows_every_family_but_the_build_and_what_it_does_not_divide(api):
    board = json.loads((DEPLOY / "grafana" / "temper.json").read_text())
    shown = {name for panel in board["panels"] for target in panel["targets"] for name in NAME.findall(target["expr"])}
    assert shown <= told(api)
    left = told(api) - shown
    assert left == {"temper_build_info", "temper_gpu_memory_total_bytes"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
