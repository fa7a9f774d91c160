"""People's recipe files: what is read, and how a wrong one is refused with its line."""

import pytest

from app.candidates.recipe_file_reader import load_folder_and_extra_recipes
from app.errors import BadInput
from app.events.event_field_types import AppendLine, SetOption

GOOD = """
[["V-257984"]]
do = "set_option"
path = "/etc/ssh/sshd_config"
key = "PermitEmptyPasswords"
value = "no"

[["V-257984"]]
do = "append_line"
path = "/etc/issue"
line = "x"
"""


def write(folder, name, text):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def test_a_folder_and_single_files_are_read_and_named_after_the_file(tmp_path):
    write(tmp_path / "recipes", "site.toml", GOOD)
    write(tmp_path / "recipes", "notes.txt", "not read")
    given = write(tmp_path, "ana.toml", '"V-1" = [{do = "append_line", path = "/etc/motd", line = "m"}]')
    ana, site = load_folder_and_extra_recipes(tmp_path / "recipes", [given])
    assert (ana.rule, ana.source, ana.actions) == ("V-1", "a recipe of ana", (AppendLine(path="/etc/motd", line="m"),))
    wanted = SetOption(path="/etc/ssh/sshd_config", key="PermitEmptyPasswords", value="no")
    assert (site.rule, site.source) == ("V-257984", "a recipe of site")
    assert site.actions == (wanted, AppendLine(path="/etc/issue", line="x"))


def test_without_a_folder_there_are_none(tmp_path):
    assert load_folder_and_extra_recipes(tmp_path / "recipes") == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("set_option", "run_shell"), r"ana\.toml:2: action 1 of V-257984: Invalid value 'run_shell'"),
        (GOOD.replace('line = "x"', 'line = "x"\nwhy = "y"'), r"ana\.toml:8: action 2 of V-257984: .*`why`"),
        (GOOD.replace('"/etc/issue"', '"etc/issue"'), r"ana\.toml:8: action 2 of V-257984: .*`\$\.path`"),
        (GOOD.replace('"/etc/issue"', '"/etc/issue\\n"'), r"ana\.toml:8: .*ends in a newline"),
        ('"V-1" = []', r"ana\.toml:1: V-1 needs 1 to 12 actions"),
        ('["V-1"]\ndo = "reload"', r"ana\.toml:1: V-1 needs 1 to 12 actions"),
        ('"a b" = []', r"ana\.toml:1: 'a b' is not the id of a rule"),
        ("x = ", r"ana\.toml:1: this is not TOML"),
        (
            f'"V-1" = [{{do = "run_vendor_script", rule = "r", script = "id", sha256 = "{"0" * 64}"}}]',
            "a vendor's script is taken from the content",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_what_to_do(tmp_path, text, says):
    with pytest.raises(BadInput, match=says):
        load_folder_and_extra_recipes(tmp_path, [write(tmp_path / "x", "ana.toml", text)])


def test_a_file_whose_name_cannot_be_shown_or_that_is_absent_is_refused(tmp_path):
    odd = write(tmp_path / "x", "a\u202eb.toml", "")
    with pytest.raises(BadInput, match="needs a name of letters"):
        load_folder_and_extra_recipes(tmp_path, [odd])
    with pytest.raises(BadInput, match=r"none\.toml cannot be read"):
        load_folder_and_extra_recipes(tmp_path, [tmp_path / "none.toml"])
