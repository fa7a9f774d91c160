"""What the site chose: the rule's words and its check follow it, and what has to be written for it may be written."""

import pytest

from app.errors import BadInput
from app.events.event_field_types import ParameterUsed, SetOption, WriteFile
from app.skills.catalog import load_skill
from app.skills.skill import apply_parameters, hash_rulebook
from app.skills.stig.pack import STIG
from app.syntax.host_files_protocol import FileState
from app.syntax.option_writing_by_file_path import set_option
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.policy import list_action_refusals
from tests.hostfiles import DictFiles
from tests.skills.stig.test_pack import fixture

NOTICE = "Stay out.\nThis is ours."
PLACES = {
    "minlen": ("/etc/security/pwquality.conf", "minlen"),
    "pass_max_days": ("/etc/login.defs", "PASS_MAX_DAYS"),
    "maxlogins": ("/etc/security/limits.conf", "hard maxlogins"),
    "client_alive_interval": ("/etc/ssh/sshd_config", "ClientAliveInterval"),
    "disk_full_action": ("/etc/audit/auditd.conf", "disk_full_action"),
}
EXTREMES = [
    (name, f"{value:g}")
    for name, one in STIG.parameters.items()
    for value in (one.least, one.most)
    if value is not None
]


def used(name, value, rules=()):
    return ParameterUsed(name=name, value=value, sha256="", rules=rules, where="every host")


def with_value(name, value):
    made = apply_parameters(STIG, (used(name, value),))
    (rule,) = STIG.parameters[name].rules
    return made.rules[rule]


def changed(path, key, value):
    files = fixture()
    text = set_option(path, files[path].content.decode(), key, value)
    return files | {path: FileState(text.encode(), files[path].mode, files[path].owner)}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    target = FixtureTarget("host", tmp_path_factory.mktemp("host"))
    target.prepare()
    return target.files


def test_rules_without_a_value_are_as_they_were():
    made = apply_parameters(STIG, (used("minlen", "20"),))
    apart = {rule for rule in STIG.rules if made.rules[rule] != STIG.rules[rule]}
    assert apart == {"V-258107"}
    assert hash_rulebook(made) != hash_rulebook(STIG)
    assert apply_parameters(STIG, (used("gone", "1"),)) is STIG


@pytest.mark.parametrize(("name", "value"), [("minlen", "x"), ("minlen", ""), ("banner", "a\0b")])
def test_a_log_that_somebody_made_up_is_refused_in_a_sentence(name, value):
    with pytest.raises(BadInput, match=f"will not do for {name}: it "):
        apply_parameters(STIG, (used(name, value),))


@pytest.mark.parametrize(("name", "value"), [*EXTREMES, ("disk_full_action", "SINGLE")])
def test_words_and_check_go_by_the_value(name, value):
    rule, usual = with_value(name, value), STIG.parameters[name].usual
    assert f"The site chose {value}" in rule.requirement
    before = rule.requirement.partition(" The site chose")[0]
    assert value in before.replace("=", " ").replace(".", " ").split()
    assert (usual in before.split()) == (usual == value)
    verdict = rule.check(DictFiles(fixture()))
    assert (verdict.rule, verdict.word) == (rule.id, "fail")


@pytest.mark.parametrize(("name", "value", "weaker"), [
    ("minlen", "20", "15"), ("pass_max_days", "30", "60"), ("maxlogins", "5", "10"),
    ("client_alive_interval", "300", "600"), ("disk_full_action", "SINGLE", "HALT"),
])  # fmt: skip
def test_what_the_stig_alone_takes_is_not_enough_any_more(name, value, weaker):
    path, key = PLACES[name]
    rule = with_value(name, value)
    words = {each: rule.check(changed_alone(path, key, each)).word for each in (value, weaker)}
    assert words == {value: "pass", weaker: "fail"}
    (id_,) = STIG.parameters[name].rules
    assert STIG.rules[id_].check(changed_alone(path, key, weaker)).word == "pass"


def changed_alone(path, key, value):
    """Drop-ins beside the file say nothing."""
    files = changed(path, key, value)
    return DictFiles({name: state for name, state in files.items() if ".d/" not in name or "pam.d" in name})


@pytest.mark.parametrize(
    ("name", "value"), [*EXTREMES, *(("disk_full_action", word) for word in ("SINGLE", "HALT", "SYSLOG"))]
)
def test_the_policy_lets_it_be_written(host, name, value):
    rule = with_value(name, value)
    if name == "tmout":
        path = "/etc/profile.d/tmout.sh"
        action = WriteFile(path=path, content=f"TMOUT={value}\nreadonly TMOUT\nexport TMOUT\n")
    else:
        path, key = PLACES[name]
        action = SetOption(path=path, key=key, value=value)
    assert list_action_refusals([action], frozenset({path}), host, rule.permitted_weakenings) == []


def test_the_notice_is_held_word_for_word_and_may_be_written(host):
    rule = with_value("banner", NOTICE)
    assert "`Stay out. This is ours.`" in rule.requirement
    assert rule.fix.endswith(f"Write to /etc/issue:\n{NOTICE}")
    sshd = changed("/etc/ssh/sshd_config", "Banner", "/etc/issue")
    for text, word in ((f"{NOTICE}\n\n", "pass"), ("Stay  out. This is ours.", "pass"), ("Welcome.", "fail")):
        files = DictFiles({**sshd, "/etc/issue": FileState(text.encode(), 0o644, "root:root")})
        assert rule.check(files).word == word
    action = WriteFile(path="/etc/issue", content=f"{NOTICE}\n")
    assert list_action_refusals([action], frozenset({"/etc/issue"}), host, rule.permitted_weakenings) == []
    usual = load_skill("stig").rules["V-257981"]
    assert len(list_action_refusals([action], frozenset({"/etc/issue"}), host, usual.permitted_weakenings)) == 1
    ours = WriteFile(path="/etc/issue", content=f"{usual.fix.split('`')[1]}\n")
    assert list_action_refusals([ours], frozenset({"/etc/issue"}), host, usual.permitted_weakenings) == []
    assert len(list_action_refusals([ours], frozenset({"/etc/issue"}), host, rule.permitted_weakenings)) == 1


def test_a_choice_of_rules_goes_by_the_same_values():
    assert load_skill("drift").site_value_skill_name == "stig"
    assert set(load_skill("drift").parameters) == set()
