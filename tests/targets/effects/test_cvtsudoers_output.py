import pytest

from app.targets.effects.cvtsudoers_output import parse_cvtsudoers


def test_what_cvtsudoers_writes_wrong_is_put_right():
    found = parse_cvtsudoers("", 'Defaults:stranger, %!dev noexec\nDefaults>root env_keep+="A B"\n')
    assert [(one.scope, one.name, one.change) for one in found.defaults] == [
        (":stranger, !%dev", "noexec", "="),
        (">root", "env_keep", "+"),
    ]


def test_rules_are_taken_out_of_the_json():
    told = """{"User_Aliases": {"OPS": [{"username": "kim"}, {"usergid": 10, "negated": true}]},
      "User_Specs": [{"User_List": [{"useralias": "OPS"}], "Host_List": [{"hostname": "ALL"}], "Cmnd_Specs": [
        {"runasusers": [{"username": "root"}], "runasgroups": [{"usergroup": "dev"}],
         "Options": [{"authenticate": false}, {"cwd": "/x"}], "Commands": [{"command": "/a", "negated": true}]}]}]}"""
    found = parse_cvtsudoers(f"a warning\n{told}", "")
    assert found.aliases[0].members == ("kim", "!%#10")
    (grant,) = found.grants
    assert (grant.users, grant.runas, grant.tags, grant.command, grant.options) == (
        ("OPS",),
        "root : dev",
        {"NOPASSWD"},
        "!/a",
        ("cwd=/x",),
    )


@pytest.mark.parametrize("rules", ["no", '{"User_Specs": 1}', '{"User_Specs": [{}]}', '{"User_Aliases": []}'])
def test_an_answer_that_is_none(rules):
    assert parse_cvtsudoers(rules, "") is None
