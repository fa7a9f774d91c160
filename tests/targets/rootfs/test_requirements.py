from app.targets.rootfs.requirements import _list_namespace_faults


def test_a_trial_that_takes_too_long_is_said(tmp_path):
    assert _list_namespace_faults(tmp_path, 0.001) == [
        "The trial of a user namespace did not end within 0.001 s: this machine is too busy."
    ]
