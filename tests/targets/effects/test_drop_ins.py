from app.targets.effects import drop_ins
from app.targets.writable_areas import VENDOR
from tests.hostfiles import DictFiles


def test_of_one_name_the_first_folder_counts_and_the_rest_go_by_name():
    files = DictFiles(
        {
            "/usr/lib/sysctl.d/50-a.conf": "vendor a",
            "/usr/lib/sysctl.d/60-b.conf": "vendor b",
            "/run/sysctl.d/60-b.conf": "run b",
            "/etc/sysctl.d/50-a.conf": "ours a",
            "/etc/sysctl.d/55-c.conf": "ours c",
        }
    )
    assert drop_ins.read_drop_in_texts("sysctl.d", files) == ["ours a", "ours c", "run b"]


def test_a_vendor_who_cannot_be_seen_is_known():
    assert any("protected_regular" in text for text in drop_ins.read_drop_in_texts("sysctl.d", DictFiles({})))
    assert "/usr/lib/sysctl.d/*.conf" in VENDOR
