"""A real sshd goes on by what it read when it last began: its file is right, and what runs is the old."""

SSHD = "/etc/ssh/sshd_config"


def test_a_reload_that_is_held_back_is_set_and_not_in_force(host, opened):
    target = opened()
    target.prepare()
    was = target.check_in_force()
    assert len(was.boot) == 36
    assert "sshd" in was.checked_programs
    assert [one for one in was.pending_settings if one.program == "sshd"] == []
    config = host.root / SSHD[1:]
    config.write_text(config.read_text() + "MaxAuthTries 3\n")
    (late,) = [one for one in target.check_in_force().pending_settings if one.program == "sshd"]
    assert (late.setting, late.by) == (SSHD, "a reload of sshd")
    target.line.run("reload", "sshd")
    now = target.check_in_force()
    assert "sshd" in now.checked_programs
    assert [one for one in now.pending_settings if one.program == "sshd"] == []
