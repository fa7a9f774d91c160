import pytest

from app.syntax import sshd_values as values


@pytest.mark.parametrize(
    ("spell", "written", "expected"),
    [
        (values.seconds, "1h30m", "5400"),
        (values.seconds, "90S", "90"),
        (values.seconds, "+1m", "60"),
        (values.seconds, "1x", None),
        (values.seconds, "", None),
        (values.seconds, "9999999999", None),
        (values.whole, "007", "7"),
        (values.whole, "-1", None),
        (values.whole, "1e3", None),
        (values.volume, "1.5G", "1610612736"),
        (values.volume, "512M", "536870912"),
        (values.volume, "default", "0"),
        (values.volume, "15", None),
        (values.volume, "G", None),
        (values.volume, "", None),
        (values.mask, "177", "0177"),
        (values.mask, "0777x", "0777"),
        (values.mask, "1000", None),
        (values.starts, "5", (5, None, 5)),
        (values.starts, "1:2:3x", (1, 2, 3)),
        (values.starts, "1:2", None),
        (values.blocks, "024:64", "24:64"),
        (values.file, "NONE", "none"),
        (values.file, "~/x", "/root/x"),
        (values.file, "x", "//x"),
        (values.level, "debug1", "DEBUG"),
        (values.level, "Quiet", "SILENT"),
        (values.level, "loud", None),
        (values.port, "0", None),
    ],
)
def test_a_value_is_spelt_as_sshd_spells_it(spell, written, expected):
    assert spell(written) == expected
