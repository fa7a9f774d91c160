from app.syntax import audit_rule_files


def test_switches_are_told_from_rules():
    text = "-D\n-b 8192\n# -f 0\n-f2\n\n-w /etc/passwd -p wa -k id\n-e 2\n"
    assert [(s.key, s.value, s.line) for s in audit_rule_files.parse_controls(text, "f")] == [
        ("-b", "8192", 2),
        ("-f", "2", 4),
        ("-e", "2", 7),
    ]
    assert len(audit_rule_files.parse_audit_lines(text, "f")) == 5


def test_auditctl_does_not_split_at_tabs_nor_drop_a_carriage_return():
    assert [s.value for s in audit_rule_files.parse_controls("-f\t2\n-f 2\r\n", "f")] == ["\t2", "2\r"]
