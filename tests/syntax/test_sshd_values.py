import pytest

from app.syntax import sshd_values as values


@pytest.mark.parametrize(
    ("spell", "written", "expected"),
    [
        (values.spell_seconds, "1h30m", "5400"),
        (values.spell_seconds, "90S", "90"),
        (values.spell_seconds, "+1m", "60"),
        (values.spell_seconds, "1x", None),
        (values.spell_seconds, "", None),
        (values.spell_seconds, "9999999999", None),
        (values.spell_count, "007", "7"),
        (values.spell_count, "-1", None),
        (values.spell_count, "1e3", None),
        (values.spell_volume, "1.5G", "1610612736"),
        (values.spell_volume, "512M", "536870912"),
        (values.spell_volume, "default", "0"),
        (values.spell_volume, "15", None),
        (values.spell_volume, "G", None),
        (values.spell_volume, "", None),
        (values.spell_mask, "177", "0177"),
        (values.spell_mask, "0777x", "0777"),
        (values.spell_mask, "1000", None),
        (values.parse_startups, "5", (5, None, 5)),
        (values.parse_startups, "1:2:3x", (1, 2, 3)),
        (values.parse_startups, "1:2", None),
        (values.spell_netblocks, "024:64", "24:64"),
        (values.spell_path, "NONE", "none"),
        (values.spell_path, "~/x", "/root/x"),
        (values.spell_path, "x", "//x"),
        (values.spell_log_level, "debug1", "DEBUG"),
        (values.spell_log_level, "Quiet", "SILENT"),
        (values.spell_log_level, "loud", None),
        (values.spell_port, "0", None),
    ],
)
def test_a_value_is_spelt_as_sshd_spells_it(spell, written, expected):
    assert spell(written) == expected
