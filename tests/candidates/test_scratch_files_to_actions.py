"""What tasks made of a file, as few typed actions with the same result."""

from app.candidates.scratch_files_to_actions import ScratchFiles
from app.events.event_field_types import AppendLine, WriteFile
from app.targets.planned_effects_of_actions import MOST_ACTIONS
from tests.hostfiles import DictFiles

RULES = "/etc/audit/rules.d/audit.rules"


def append_watches(number):
    scratch = ScratchFiles(DictFiles({RULES: "-D\n"}))
    scratch.write_text(RULES, "-D\n" + "".join(f"-w /opt/{one} -p x\n" for one in range(number)))
    return scratch.derive_actions()


def test_lines_are_appended_one_by_one_up_to_the_limit_of_a_change():
    assert append_watches(MOST_ACTIONS) == [
        AppendLine(path=RULES, line=f"-w /opt/{one} -p x") for one in range(MOST_ACTIONS)
    ]


def test_a_file_with_more_changed_lines_than_a_change_may_have_is_written_whole():
    (whole,) = append_watches(MOST_ACTIONS + 1)
    assert isinstance(whole, WriteFile)
    assert whole.content.count("\n") == MOST_ACTIONS + 2
