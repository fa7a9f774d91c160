"""A real sshd goes on by what it read when it last began: its file is right, and what runs is the old."""

SSHD = "/etc/ssh/sshd_config"


def test_a_reload_that_is_held_back_is_set_and_not_in_force(host, opened):
    target = opened()
    target.prepare()
    was = target.running()
    assert len(was.boot) == 36
    assert "sshd" in was.asked
    assert [one for one in was.behind if one.program == "sshd"] == []
    config = host.root / SSHD[1:]
    config.write_text(config.read_text() + "MaxAuthTries 3\n")
    (late,) = [one for one in target.running().behind if one.program == "sshd"]
    assert (late.setting, late.by) == (SSHD, "a reload of sshd")
    target.line.run("reload", "sshd")
    now = target.running()
    assert "sshd" in now.asked
    assert [one for one in now.behind if one.program == "sshd"] == []
