import pytest

from app.syntax import sshd_values as values


@pytest.mark.parametrize(
    ("spell", "written", "expected"),
    [
        (values.normalize_seconds, "1h30m", "5400"),
        (values.normalize_seconds, "90S", "90"),
        (values.normalize_seconds, "+1m", "60"),
        (values.normalize_seconds, "1x", None),
        (values.normalize_seconds, "", None),
        (values.normalize_seconds, "9999999999", None),
        (values.normalize_seconds, "0000000000600", "600"),
        (values.normalize_count, "007", "7"),
        (values.normalize_count, "-1", None),
        (values.normalize_count, "1e3", None),
        (values.normalize_size, "1.5G", "1610612736"),
        (values.normalize_size, "512M", "536870912"),
        (values.normalize_size, "default", "0"),
        (values.normalize_size, "15", None),
        (values.normalize_size, "G", None),
        (values.normalize_size, "", None),
        (values.normalize_umask, "177", "0177"),
        (values.normalize_umask, "0777x", "0777"),
        (values.normalize_umask, "1000", None),
        (values.parse_startups, "5", (5, None, 5)),
        (values.parse_startups, "1:2:3x", (1, 2, 3)),
        (values.parse_startups, "1:2", None),
        (values.normalize_netblock_size_pair, "024:64", "24:64"),
        (values.make_path_absolute, "NONE", "none"),
        (values.make_path_absolute, "~/x", "/root/x"),
        (values.make_path_absolute, "x", "//x"),
        (values.normalize_log_level, "debug1", "DEBUG"),
        (values.normalize_log_level, "Quiet", "SILENT"),
        (values.normalize_log_level, "loud", None),
        (values.normalize_port, "0", None),
        (values.normalize_port, "65535", "65535"),
        (values.normalize_port, "65536", None),
    ],
)
def test_a_value_is_spelt_as_sshd_spells_it(spell, written, expected):
    assert spell(written) == expected
