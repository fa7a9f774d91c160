from app.syntax.sysctl import load_as_procps, load_as_systemd, parse_sysctl_assignments


def test_the_first_separator_tells_the_spelling():
    text = "net.ipv4.conf.eth0/1.rp_filter = 1\nnet/ipv4/conf/eth0.1/rp_filter = 1\n# a = 1\n; b = 1\nc 1\n-d.e\n"
    assert parse_sysctl_assignments(text) == [("net.ipv4.conf.eth0/1.rp_filter", "1")] * 2 + [("d.e", None)]


def test_systemd_takes_back_and_procps_does_not():
    texts = ["a.b = 1\n-a.b\n/c/d = 1\n"]
    assert load_as_systemd(texts).stated == {"c.d": "1"}
    assert load_as_procps(texts).stated == {"a.b": "1"}
