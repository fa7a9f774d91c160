from app.syntax import limits_conf
from tests.hostfiles import DictFiles


def test_rows_are_read_with_any_blanks_and_without_comments():
    text = "# * hard maxlogins 1\n*\thard\tmaxlogins\t10 # ten\n@dev - nproc 5\nbroken row\n* HARD MaxLogins 9\r\n"
    found = [(x.domain, x.kind, x.item, x.value, x.line) for x in limits_conf.parse_limits(text, "f")]
    assert found == [
        ("*", "hard", "maxlogins", "10", 2),
        ("@dev", "-", "nproc", "5", 3),
        ("*", "hard", "maxlogins", "9", 5),
    ]


def test_the_folder_comes_after_the_file():
    files = DictFiles(
        {limits_conf.MAIN: "* hard maxlogins 1\n", "/etc/security/limits.d/a.conf": "* hard maxlogins 2\n"}
    )
    assert [x.value for x in limits_conf.read_limits(files)] == ["1", "2"]
