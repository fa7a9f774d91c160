from dataclasses import replace

import pytest

from app.errors import BadInput, Rejected
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order, create_run_request
from app.skills.catalog import SHIPPED, Catalog, load_skill, suggest_rules

STIG_FOLDER = {"pack.py": "from app.skills.stig.pack import SKILL\n"}
PICK = 'title = "Two of thirty"\nof = "stig"\nrules = ["V-257985", "V-257984"]\n'


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A catalog of folders that a test writes, importable under a name of its own."""
    package = f"skills_{tmp_path.name}"
    monkeypatch.syspath_prepend(tmp_path)

    def write(**skills: dict[str, str]) -> Catalog:
        for name, files in skills.items():
            (tmp_path / package / name).mkdir(parents=True)
            for file, text in files.items():
                (tmp_path / package / name / file).write_text(text)
        return Catalog(tmp_path / package, package)

    return write


def test_a_skill_is_found_by_name_and_an_unknown_one_refused_with_the_choice():
    assert load_skill("stig").name == "stig"
    with pytest.raises(BadInput, match=r"choose one of .*drift, .*stig"):
        load_skill("cis\x1b[2J")


def test_every_folder_that_is_shipped_is_a_skill():
    for name in set(SHIPPED.list_names()) - {"scap"}:
        assert load_skill(name).rules, name


def test_a_third_skill_is_a_folder_and_nothing_else(folders):
    catalog = folders(stig=STIG_FOLDER, two={"skill.toml": PICK + 'irreversible = ["V-257984"]\nmode = "review"\n'})
    two = catalog.load_skill("two")
    assert (two.name, two.title, two.mode) == ("two", "Two of thirty", "review")
    assert list(two.rules) == ["V-257985", "V-257984"]
    assert [rule.irreversible for rule in two.rules.values()] == [False, True]
    assert two.rules["V-257985"].check is load_skill("stig").rules["V-257985"].check


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "it has neither"),
        ({"pack.py": "", "skill.toml": PICK}, "it has both"),
        ({"pack.py": "raise RuntimeError('half written')"}, "cannot be loaded: RuntimeError: half written"),
        ({"pack.py": "RULES = ()"}, "names no SKILL"),
        (STIG_FOLDER, "names its skill 'stig'"),
        ({"skill.toml": "title = "}, "skill.toml cannot be read"),
        ({"skill.toml": PICK + "colour = 1\n"}, "unknown field `colour`"),
        ({"skill.toml": PICK.replace("V-257985", "V-1")}, "stig has no rule 'V-1'"),
        ({"skill.toml": PICK.replace('["V-257985", "V-257984"]', "[]")}, "picks no rules"),
        ({"skill.toml": PICK + '[breaks]\n"V-2" = "all"\n'}, "stig has no rule 'V-2'"),
        ({"skill.toml": PICK.replace('of = "stig"', 'of = "bad"')}, "includes itself"),
        ({"skill.toml": PICK.replace('of = "stig"', 'of = "gone"')}, "no skill 'gone'"),
    ],
)
def test_a_folder_that_is_none_is_named_and_harms_no_other(folders, files, says):
    catalog = folders(stig=STIG_FOLDER, bad=files)
    with pytest.raises(BadInput) as told:
        catalog.load_skill("bad")
    assert says in str(told.value)
    assert says.startswith("no skill") or str(catalog.folder / "bad") in str(told.value)
    assert catalog.list_names() == ["bad", "stig"]
    assert catalog.load_skill("stig").rules


def test_a_skill_that_takes_no_argument_says_so():
    with pytest.raises(BadInput, match="takes no argument after a colon"):
        load_skill("stig:rhel8")


def test_the_drift_check_only_looks(tmp_path):
    drift = load_skill("drift")
    assert drift.mode == "dry-run"
    asked = Order(skill="drift", keep=True, by="ada")
    lineup = read_lineup(require_lineup_path("simulated"))
    assert create_run_request(asked, lineup, tmp_path).rules == tuple(drift.rules)
    with pytest.raises(Rejected, match="runs only in mode dry-run"):
        create_run_request(replace(asked, mode="auto"), lineup, tmp_path)


def test_an_unknown_rule_has_neighbours():
    stig = load_skill("stig")
    assert suggest_rules("V-25798", stig)[0].startswith("V-25798")
    assert suggest_rules(" rhel-09-255045 ", stig)[0] == "V-257985"
    assert len(suggest_rules("V-257999", stig)) <= 3
    assert suggest_rules("nonsense", stig) == []
    assert suggest_rules("\n V-257985\t", stig)[0] == "V-257985"
    assert suggest_rules("x" * 100_000, stig) == []
