from app.syntax import account_files


def test_passwd_is_read_and_a_broken_record_named():
    text = "root:x:0:0:root:/root:/bin/bash\nbob:x:ten:1::/home/bob:/bin/sh\neve:x:1:1:/home\n:x:1:1:::\n"
    found, problems = account_files.parse_passwd_with_problems(text)
    assert [(a.name, a.uid, a.gid, a.home, a.shell, a.line) for a in found] == [("root", 0, 0, "/root", "/bin/bash", 1)]
    assert [p.line for p in problems] == [2, 3, 4]


def test_ids_reach_to_the_end_of_32_bits():
    text = "nfsnobody:x:4294967294:4294967294::/:/bin/sh\nbeyond:x:4294967296:1::/:/bin/sh\n"
    found, problems = account_files.parse_passwd_with_problems(text)
    assert [(a.name, a.uid, a.gid) for a in found] == [("nfsnobody", 4294967294, 4294967294)]
    assert [p.line for p in problems] == [2]
    assert account_files.parse_group_with_problems("nfsnobody:x:4294967294:\n")[0][0].gid == 4294967294


def test_shadow_knows_locked_expired_and_unending():
    text = "root:*:1::60::::\nbob:$6$x$y:19000:0:99999:7::20000:\nkim:!!:::::::\neve:x:many::::::\n"
    found, problems = account_files.parse_shadow_with_problems(text)
    assert [(s.name, s.is_locked, s.max_days, s.expires) for s in found] == [
        ("root", True, 60, None),
        ("bob", False, 99999, 20000),
        ("kim", True, None, None),
    ]
    assert [p.line for p in problems] == [4]


def test_groups_have_members():
    found, problems = account_files.parse_group_with_problems("wheel:x:10:opsadmin,temper\nempty:x:11:\nbroken:x\n")
    assert [(g.name, g.gid, g.members, g.line) for g in found] == [
        ("wheel", 10, ("opsadmin", "temper"), 1),
        ("empty", 11, (), 2),
    ]
    assert [p.line for p in problems] == [3]
