import subprocess

import pytest

from app.evidence.playbook.repeatable_fixes import build_shell_commands
from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.selinux_type import SetSelinuxType, find_candidates, judge_folder, judge_types
from tests.resources.case import KindCase, Sample
from tests.targets.ssh.conftest import host, opened  # noqa: F401 (fixtures)

FOLDER, LINES = "/var/log/faillock", "etc/selinux/targeted/contexts/files/file_contexts.local"
STORE = "var/lib/selinux/targeted/active/file_contexts.local"
ACTION = SetSelinuxType(folder=FOLDER, type="faillog_t")
WAS, NOW = "var_log_t, policy var_log_t", "faillog_t, policy faillog_t"
TOOLS = {
    "matchpathcon": f"""
for path; do :; done
while read -r spec context; do case $path/ in "${{spec%%(*}}"/*) type=$context ;; esac; done </{LINES}
echo "${{type:-system_u:object_r:var_log_t:s0}}"
""",
    "restorecon": """
for folder; do :; done
/usr/bin/find "$folder" | while read -r path; do
  echo "$path $(matchpathcon -n -- "$path" | sed "s/system_u/$(stat -c %C -- "$path" | cut -d: -f1)/")" >>/labels
done
""",
    "semanage": f"""
for spec; do :; done
sed -i '\\|^/var/log/faillock(|d' /{STORE}
case $3 in -a | -m) echo "$spec system_u:object_r:$5:s0" >>/{STORE} ;; esac
cp /{STORE} /{LINES}
""",
}
PREPARE = f"""
mkdir -p /{LINES.rpartition("/")[0]} /{STORE.rpartition("/")[0]} /sys/fs/selinux
touch /sys/fs/selinux/enforce /sys/fs/selinux/context /{LINES} /{STORE} /labels
rm /bin && mkdir /bin
# The kernel of the tests has no labels: stat and chcon have theirs in a file, and are functions, since /usr is first.
cat >/bin/sh <<'TOOL'
#!/usr/bin/bash
stat() {{
  for path; do :; done
  case "$*" in *%C*) ;; *) command stat "$@"; return ;; esac
  context=$(grep "^$path " /labels | tail -n 1)
  context=${{context##* }}
  echo "${{context:-unconfined_u:object_r:var_log_t:s0}}"
}}
chcon() {{ [ "$1" != -h ] || echo "$4 $3" >>/labels; }}
export -f stat chcon
exec -a sh /usr/bin/bash "$@"
TOOL
chmod 0755 /bin/sh
""" + "".join(
    f"cat >/bin/{name} <<'TOOL'\n#!/bin/sh{text}TOOL\nchmod 0755 /bin/{name}\n" for name, text in TOOLS.items()
)
CASE = KindCase(
    samples=(
        Sample(
            ACTION,
            HostState(WAS),
            ResourceState(f"selinux_type:{FOLDER}", WAS, NOW),
            ResourceState(f"selinux_type:{FOLDER}/x", "auditd_log_t, policy var_log_t", NOW),
        ),
    ),
    rule=RuleTexts("x", f'$ sudo semanage fcontext -a -t faillog_t "{FOLDER}(/.*)?"'),
    prepare=PREPARE,
)


@pytest.fixture
def prepare_host(host):  # noqa: F811
    """Lay out the host of the case, with what the script does besides."""

    def run(script=""):
        laid = {"SSH_ORIGINAL_COMMAND": f"set -e\n{PREPARE}{script}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        subprocess.run([host.folder / "enter"], env=laid, check=True, stdin=subprocess.DEVNULL)
        return host

    return run


def read_labels(root):
    """Return the last label of each path."""
    return dict(line.split() for line in (root / "labels").read_text().splitlines())


def judge(before, after=NOW):
    return judge_types(ForeseenStates((ResourceState(f"selinux_type:{FOLDER}", before, after),)))


@pytest.mark.parametrize("before", [WAS, "no folder, policy var_log_t", "var_log_t, policy faillog_t"])
def test_a_folder_without_a_type_of_its_own_may_get_one(before):
    assert judge(before) is None


@pytest.mark.parametrize(
    ("before", "after", "clause"),
    [
        (WAS, "unconfined_t, policy unconfined_t", "weakening"),
        (WAS, "sshd_exec_t, policy sshd_exec_t", "weakening"),
        (WAS, "user_tmp_t, policy user_tmp_t", "weakening"),
        (WAS, "var_log_t, policy faillog_t", "weakening"),
        ("auditd_log_t, policy var_log_t", NOW, "destruction"),
        ("var_log_t, policy auditd_log_t", NOW, "destruction"),
        ("?, policy var_log_t", NOW, "not understood"),
        ("var_log_t, policy <<none>>", NOW, "not understood"),
    ],
)
def test_no_type_lets_programs_in_and_none_is_taken_from_programs(before, after, clause):
    assert judge(before, after).clause == clause


@pytest.mark.parametrize(
    "folder", ["/", "/etc", "/usr", "/boot", "/root", "/var", "/var/log", "/var/lib/temper", "/var/lib/temper/journal"]
)
def test_no_other_folder_is_touched(folder):
    assert judge_folder(SetSelinuxType(folder=folder, type="faillog_t")).clause == "destruction"
    assert judge_folder(SetSelinuxType(folder="/var/lib/tempers", type="faillog_t")) is None


@pytest.mark.parametrize(
    "command",
    [
        'semanage fcontext -a -t faillog_t "/var/log/faillock"',
        'semanage fcontext -a -t faillog_t "/var/log/../faillock(/.*)?"',
        'semanage fcontext -a -t faillog_t "$dir(/.*)?"',
        'semanage fcontext -a -t faillog_t "/var/log/faillock(/.*)?|/etc(/.*)?"',
        'semanage fcontext -d -t faillog_t "/var/log/faillock(/.*)?"',
    ],
)
def test_a_text_that_names_no_plain_folder_names_none(command):
    assert list(find_candidates(RuleTexts("x", command))) == []


def test_a_folder_with_files_is_undone_to_the_last_label(prepare_host, opened):  # noqa: F811
    script = f"""
mkdir -m 755 {FOLDER}
touch {FOLDER}/ana {FOLDER}/bo
echo '{FOLDER}/bo system_u:object_r:var_t:s0:c1,c2' >/labels
echo '{FOLDER}(/.*)? system_u:object_r:var_t:s0' | tee /{LINES} >/{STORE}
"""
    host = prepare_host(script)  # noqa: F811
    target, allowed = opened(), frozenset({f"selinux_type:{FOLDER}"})
    target.prepare()
    was = (host.everything(), host.read(f"/{STORE}"))
    shown = target.assess_actions([ACTION], allowed)
    assert shown.refusals == ()
    assert [f"resource selinux_type:{FOLDER}{one}\n" in shown.diff for one in ("", "/ana", "/bo")] == [True] * 3
    target.apply("types", [ACTION], allowed)
    assert host.read(f"/{LINES}") == host.read(f"/{STORE}") == f"{FOLDER}(/.*)? system_u:object_r:faillog_t:s0\n"
    assert {context.split(":")[2] for context in read_labels(host.root).values()} == {"faillog_t"}
    assert target.roll_back("types").differences == ()
    assert (host.everything(), host.read(f"/{STORE}")) == was
    assert read_labels(host.root) == {
        FOLDER: "unconfined_u:object_r:var_log_t:s0",
        f"{FOLDER}/ana": "unconfined_u:object_r:var_log_t:s0",
        f"{FOLDER}/bo": "system_u:object_r:var_t:s0:c1,c2",
    }


def test_a_missing_folder_is_made_and_taken_away(prepare_host, opened):  # noqa: F811
    host = prepare_host(f"rm /{STORE}")  # noqa: F811
    target = opened()
    target.prepare()
    target.apply("types", [ACTION], frozenset({f"selinux_type:{FOLDER}"}))
    assert (host.root / FOLDER[1:]).stat().st_mode & 0o7777 == 0o755
    assert target.roll_back("types").differences == ()
    assert not (host.root / FOLDER[1:]).exists()
    assert not (host.root / STORE).exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("rm /sys/fs/selinux/enforce", "SELinux is off there"),
        ("rm /bin/semanage", "Install the package policycoreutils-python-utils first"),
        ("rm /sys/fs/selinux/context; ln -s /dev/full /sys/fs/selinux/context", "does not know the type faillog_t"),
        (f"ln -s /etc {FOLDER}", "is a file or a link"),
        (f"mkdir -m 777 {FOLDER}", "others than root may change what is in it"),
        (f"mkdir -m 755 {FOLDER}; ln -s /etc/shadow {FOLDER}/ana", "is a link"),
        (f"mkdir -m 755 {FOLDER}; ln /etc/shadow {FOLDER}/ana", "several names"),
        (f'mkdir -m 755 {FOLDER}; touch "{FOLDER}/$(printf "a\\nb")"', "an odd one"),
        (f"mkdir -m 755 {FOLDER}; cd {FOLDER}; touch $(seq 201)", "more than 200 files"),
    ],
)
def test_a_host_that_cannot_says_why(prepare_host, opened, script, said):  # noqa: F811
    prepare_host(script)
    (refusal,) = opened().assess_actions([ACTION], frozenset({f"selinux_type:{FOLDER}"})).refusals
    assert said in refusal.reason


def test_a_host_without_semanage_is_offered_nothing(prepare_host, opened):  # noqa: F811
    prepare_host("rm /bin/semanage")
    assert opened().list_resources_with_possible_actions([ACTION]) == ()


def test_an_exported_fix_leaves_a_line_of_the_hosts_own(prepare_host):
    host = prepare_host(f"echo '{FOLDER}(/.*)? system_u:object_r:var_t:s0' >/bin/own")  # noqa: F811
    (host.root / "bin/semanage").write_text("#!/bin/sh\ncase $* in *-l*) cat /bin/own ;; *) rm /bin/own ;; esac\n")
    _, line, _ = build_shell_commands(ACTION, ())
    laid = {"SSH_ORIGINAL_COMMAND": f"{line.do} || echo left", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run([host.folder / "enter"], env=laid, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert (ran.stdout, (host.root / "bin/own").exists()) == (b"left\n", True)
