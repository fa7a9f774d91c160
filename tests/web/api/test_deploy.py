"""Alert rules and the board speak of figures that there are, units and compose files of commands that there are."""

import configparser
import json
import re
import shlex
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import typer
import yaml

from app.__main__ import app as command_line

DEPLOY = Path(__file__).parents[3] / "deploy"
NAME = re.compile(r"\btemper_\w+")
UNITS = [*DEPLOY.glob("*/*.service"), *DEPLOY.glob("*/*.service.conf")]
NODES = DEPLOY / "nodes"


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


def test_each_alert_fires_and_is_silent_as_its_unit_tests_say():
    folder = DEPLOY / "prometheus"
    (group,) = yaml.safe_load((folder / "alerts.yml").read_text())["groups"]
    cases = {one["name"] for one in yaml.safe_load((folder / "alerts.test.yml").read_text())["tests"]}
    assert cases == {f"{rule['alert']} {what}" for rule in group["rules"] for what in ("fires", "is silent")}
    words = ["promtool", "test", "rules", "alerts.test.yml"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_has_steps_in_the_runbook():
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    told = (DEPLOY.parent / "docs" / "operations.md").read_text()
    steps = dict(re.findall(r"^### `(\w+)`\n\n[^\n]+\n\n(1\. .+)$", told, re.MULTILINE))
    assert set(steps) == {rule["alert"] for rule in group["rules"]}


def test_the_board_shows_every_family_but_the_build_and_what_it_does_not_divide(api):
    board = json.loads((DEPLOY / "grafana" / "temper.json").read_text())
    said = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    shown = set(NAME.findall(said.replace("_bucket", "")))
    assert shown <= told(api)
    left = told(api) - shown
    assert left == {"temper_build_info", "temper_gpu_memory_total_bytes", "temper_node_clock_off_seconds"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def unit(path):
    read = configparser.RawConfigParser(strict=False)
    read.optionxform = str
    read.read(path)
    return read


def composed(*paths):
    """As compose lays one file over the other: our services have no list that two of them would join."""
    services, volumes = {}, {}
    for path in paths:
        told = yaml.safe_load(path.read_text())
        volumes |= told["volumes"]
        for name, one in told["services"].items():
            services[name] = services.get(name, {}) | one
    return services, volumes


def parsed(words):
    """Refuses what the command line would."""
    command, words = typer.main.get_command(command_line), list(words)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    with command.make_context(command.name, words) as context:
        return context.params


def words_of_units():
    for path in UNITS:
        words = shlex.split(unit(path).get("Service", "ExecStart", fallback="")) or [""]
        if words[0].endswith("/temper"):
            yield pytest.param(words[1:], id=path.name)


def words_of_services():
    services, _ = composed(DEPLOY / "compose.yaml", NODES / "compose.yaml")
    return [pytest.param(one["command"], id=name) for name, one in services.items() if one["image"] == "temper"]


@pytest.mark.parametrize("words", [*words_of_units(), *words_of_services()])
def test_units_and_services_are_of_commands_and_options_that_there_are(words):
    told = parsed(words)
    assert told["attach"], "several nodes cannot all start the engines"
    with pytest.raises(Exception, match="No such option"):
        parsed([*words, "--no-such-option"])


def test_the_nodes_share_line_up_data_and_database():
    services, volumes = composed(DEPLOY / "compose.yaml", NODES / "compose.yaml")
    serve, worker = services["temper"], services["worker"]
    of_worker = unit(NODES / "temper-worker@.service")
    of_serve, over_serve = unit(DEPLOY / "systemd" / "temper.service"), unit(NODES / "temper.service.conf")
    started = [serve["command"], worker["command"]]
    started += [shlex.split(one["Service"]["ExecStart"])[1:] for one in (of_serve, of_worker)]
    assert {parsed(words)["lineup"] for words in started} == {"l4x4-nvfp4"}
    assert (
        len({parsed(words)["data"] for words in started[:2]})
        == len({parsed(words)["data"] for words in started[2:]})
        == 1
    )
    assert serve["volumes"] == worker["volumes"]
    assert serve["env_file"] == worker["env_file"] == services["database"]["env_file"] == ["nodes/database.env"]
    assert over_serve["Service"]["EnvironmentFile"] == of_worker["Service"]["EnvironmentFile"]
    assert {
        one.split(":")[0] for service in ("temper", "worker", "database") for one in services[service]["volumes"]
    } == set(volumes)


def test_a_node_has_the_time_to_see_a_change_through_and_comes_back_for_as_long_as_it_takes():
    for path in (NODES / "temper-worker@.service", DEPLOY / "systemd" / "temper.service"):
        service = unit(path)["Service"]
        assert service["KillMode"] == "mixed"
        assert int(service["TimeoutStopSec"]) >= 60
    for path in (NODES / "temper-worker@.service", NODES / "temper.service.conf"):
        assert unit(path)["Unit"]["StartLimitIntervalSec"] == "0"
    services, _ = composed(DEPLOY / "compose.yaml", NODES / "compose.yaml")
    assert {services[name]["stop_grace_period"] for name in ("temper", "worker")} == {"90s"}


def test_the_password_stands_in_no_file_that_is_kept_and_the_example_says_one_thing_twice():
    lines = (NODES / "database.env.example").read_text().splitlines()
    told = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    url = urlsplit(told["TEMPER_DATABASE_URL"].strip('"'))
    assert (url.scheme, url.username, url.password) == ("postgresql", told["POSTGRES_USER"], told["POSTGRES_PASSWORD"])
    assert url.path == f"/{told['POSTGRES_DB']}"
    assert (NODES / ".gitignore").read_text().split() == ["database.env"]
    for path in [*UNITS, *DEPLOY.glob("**/*.yaml")]:
        assert "postgresql://" not in path.read_text(), path


def test_nothing_is_fetched_when_it_starts():
    services, _ = composed(DEPLOY / "compose.yaml", NODES / "compose.yaml")
    started = [" ".join(one["command"]) for one in services.values()]
    started += [value for path in UNITS for key, value in unit(path).items("Service") if key.startswith("Exec")]
    for words in started:
        assert not re.search(r"\b(pip|uv|curl|wget|apt|apt-get|git|npm|sh|bash)\b|https?://", words), words
    for name, one in services.items():
        assert one.get("environment", {}).get("HF_HUB_OFFLINE", "1") == "1", name
        tag = one["image"].rpartition(":")[2] if ":" in one["image"] else ""
        assert tag != "latest", name


def words_of_the_docs():
    """What a person is told to type."""
    for path in (DEPLOY.parent / "docs" / "operations.md", DEPLOY.parent / "docs" / "retention.md"):
        for line in path.read_text().splitlines():
            if line.startswith("    temper "):
                yield shlex.split(line, comments=True)[1:]


@pytest.mark.parametrize("words", list(words_of_the_docs()), ids=" ".join)
def test_the_docs_tell_commands_that_there_are(words):
    parsed(words)


def test_the_docs_name_every_alert_and_every_file_for_nodes():
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    told = (DEPLOY.parent / "docs" / "operations.md").read_text()
    assert {rule["alert"] for rule in group["rules"]} <= set(re.findall(r"`(\w+)`", told))
    how = (DEPLOY / "README.md").read_text()
    assert all(f"nodes/{path.name}" in how for path in NODES.iterdir() if path.name != ".gitignore")


ASKED = re.compile(r"\$\{TEMPER_[A-Z0-9_]+_SHA256:\?[^}]+\}")


def test_every_image_that_comes_from_elsewhere_is_named_by_a_digest_that_has_to_be_given():
    services, _ = composed(DEPLOY / "compose.yaml", NODES / "compose.yaml")
    for name, one in services.items():
        if "build" not in one:
            assert re.search(r"@sha256:\$\{TEMPER_\w+_SHA256:\?", one["image"]), name
            continue
        folder = (DEPLOY / one["build"]["context"]).resolve()
        text = (folder / one["build"].get("dockerfile", "Dockerfile")).read_text()
        [base] = re.findall(r"^FROM (.+)$", text, re.MULTILINE)
        [wanted] = re.findall(r"@sha256:\$\{(\w+)\}$", base)
        assert f"\nARG {wanted}\n" in text, "without a value of its own"
        assert ASKED.fullmatch(one["build"]["args"][wanted]), name


def test_temper_s_image_is_built_from_the_wheel_and_needs_no_network():
    text = (DEPLOY / "temper/Containerfile").read_text()
    assert re.findall(r"^COPY (\S+)", text, re.MULTILINE) == ["requirements.lock", "dist"]
    assert text.count("pip install") == text.count("--no-index")
    assert not re.search(r"apt-get|curl|wget", text)
    assert re.search(r"^USER temper$", text, re.MULTILINE)
    carried = (DEPLOY.parent / ".dockerignore").read_text().split()
    assert carried[0] == "*"
    assert {"!dist", "!requirements.lock"} < set(carried)


def test_the_units_keep_to_themselves_what_they_write():
    for path in [one for one in UNITS if one.suffix == ".service"]:
        assert unit(path)["Service"]["UMask"] == "0077", path.name
