"""Tasks of a benchmark's content, turned into typed actions with the same result on this host's files."""

import pytest

from app.candidates.ansible_tasks_to_actions import translate_tasks
from app.candidates.predicted_output_of_ansible_commands import do_command_and_predict_output
from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.events.event_field_types import AppendLine, Chmod, ReplaceLine, WriteFile
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage, RemovePackage
from app.resources.permission import SetPermissions
from app.resources.unit import SetUnit
from app.syntax.host_files_protocol import FileState
from app.targets.overlay import Overlay
from app.targets.planned_file_states import compute_changed_file_states
from tests.hostfiles import DictFiles

SSHD, SYSCTL, RULES = "/etc/ssh/sshd_config", "/etc/sysctl.conf", "/etc/audit/rules.d/time.rules"
HOST = DictFiles(
    {
        SSHD: "#PermitRootLogin yes\nX11Forwarding yes\nX11Forwarding no\nUsePAM yes\n",
        SYSCTL: "# none\n",
        "/etc/issue": "no\nn?o|(a+b){1}\n+ n\n",
        "/etc/sysctl.d/10-a.conf": "kernel.kptr_restrict = 0\n",
        "/etc/fstab": "UUID=1 / ext4 defaults 0 1\nUUID=2 /home ext4 defaults 0 2\n",
    }
)


def result(text, path):
    return compute_changed_file_states(translate_tasks(text, HOST), HOST)[path].content.decode()


def test_a_line_is_replaced_where_the_pattern_matches_and_duplicates_go_first():
    text = r"""
- name: One value
  block:
  - lineinfile: {path: /etc/ssh/sshd_config, regexp: '(?i)^\s*X11Forwarding\s+', state: absent}
    check_mode: true
    register: dupes
  - lineinfile: {path: /etc/ssh/sshd_config, regexp: '(?i)^\s*X11Forwarding\s+', state: absent}
    when: dupes.found is defined and dupes.found > 1
  - lineinfile:
      path: /etc/ssh/sshd_config
      regexp: (?i)^\s*X11Forwarding\s+
      line: X11Forwarding no
      insertbefore: BOF
  when: '"openssh-server" in ansible_facts.packages'
"""
    assert result(text, SSHD) == "X11Forwarding no\n#PermitRootLogin yes\nUsePAM yes\n"


def test_a_value_that_the_profile_chose_is_filled_in_and_other_files_are_commented_out():
    text = r"""
- find: {paths: [/etc/sysctl.d/, /run/sysctl.d], contains: '^[\s]*kernel.kptr_restrict.*$', patterns: '*.conf'}
  register: found
- replace: {path: '{{ item.path }}', regexp: '^[\s]*kernel.kptr_restrict', replace: '#kernel.kptr_restrict'}
  loop: '{{ found.files }}'
- set_fact: {chosen: !!str 2}
- sysctl: {name: kernel.kptr_restrict, value: '{{ chosen }}', sysctl_file: /etc/sysctl.conf, reload: true}
"""
    assert translate_tasks(text, HOST) == (
        ReplaceLine(path="/etc/sysctl.d/10-a.conf", old="kernel.kptr_restrict = 0", new="#kernel.kptr_restrict = 0"),
        AppendLine(path=SYSCTL, line="kernel.kptr_restrict=2"),
    )


def test_facts_are_computed_from_what_the_tasks_registered():
    text = r"""
- set_fact: {calls: [stime], group: [adjtimex, stime]}
- find: {paths: /etc/audit/rules.d, contains: '.*{{ item }}.*', patterns: '*.rules'}
  register: found
  loop: '{{ (group + calls) | unique }}'
- set_fact: here="{{ found.results | selectattr('matched') | map(attribute='item') | list }}"
- lineinfile:
    path: /etc/audit/rules.d/time.rules
    line: -a always,exit -F arch=b32 -S {{ calls | difference(here) | join(',') }} -F key=time
    create: true
    mode: g-rwx,o-rwx
  when: here | length == 0
"""
    content = "-a always,exit -F arch=b32 -S stime -F key=time\n"
    assert translate_tasks(text, HOST) == (WriteFile(path=RULES, content=content, mode="0600"),)


def test_packages_units_and_modes_are_typed_actions_too():
    text = """
- package: {name: [auditd, cron], state: present}
- apt: {name: telnetd, state: absent}
- systemd: {name: cron, enabled: true, masked: false, state: started}
- file: {path: /etc/ssh/sshd_config, mode: "u-xs,g-xwrs,o-xwrt", owner: '0'}
"""
    assert translate_tasks(text, HOST) == (
        Chmod(path=SSHD, mode="0600"),
        InstallPackage(package="auditd"),
        InstallPackage(package="cron"),
        RemovePackage(package="telnetd"),
        *(SetUnit(unit="cron.service", to=verb) for verb in ("unmask", "enable", "start")),
    )


@pytest.mark.parametrize(
    ("symbolic", "before", "after"),
    [
        ("u=rwx", 0o7755, "3755"),
        ("g=", 0o7755, "5705"),
        ("o=", 0o7755, "6750"),
        ("a=r", 0o7755, "0444"),
        ("u=rws,o=t", 0o0755, "5650"),
        ("ug+st", 0o0755, "6755"),
        ("a-st", 0o7755, "0755"),
        ("u=rr", 0o0755, "0455"),
    ],
)
def test_a_symbolic_mode_sets_the_special_bit_of_its_class_too(symbolic, before, after):
    files = Overlay(HOST, {SSHD: FileState(b"x", before, "root:root")})
    assert translate_tasks(f"- file: {{path: {SSHD}, mode: '{symbolic}'}}", files) == (Chmod(path=SSHD, mode=after),)


BLOCK = "# BEGIN ANSIBLE MANAGED BLOCK\nMatch User ana\n# END ANSIBLE MANAGED BLOCK\n"


@pytest.mark.parametrize(
    ("arguments", "before", "after"),
    [
        ("block: Match User ana", "a\nb\n", f"a\nb\n{BLOCK}"),
        ("block: Match User ana, insertafter: EOF", "a\nb\n", f"a\nb\n{BLOCK}"),
        ("block: Match User ana, insertafter: ^a", "a\na\nb\n", f"a\na\n{BLOCK}b\n"),
        ("block: Match User ana, insertafter: ^z", "a\nb\n", f"a\nb\n{BLOCK}"),
        ("block: Match User ana, insertbefore: BOF", "a\nb\n", f"{BLOCK}a\nb\n"),
        ("block: Match User ana, insertbefore: ^b", "a\nb\n", f"a\n{BLOCK}b\n"),
        ("block: Match User ana, insertbefore: BOF", f"a\n{BLOCK}b\n", None),
        ("block: Match User ana, state: absent", f"a\n{BLOCK}b\n", "a\nb\n"),
        ("block: ''", f"a\n{BLOCK}b\n", "a\nb\n"),
        ("state: absent, marker_begin: END, marker_end: BEGIN", f"a\n{BLOCK}b\n", "a\nb\n"),
        ("state: absent", "a\nb", None),
        ("state: absent, marker_begin: START", f"a\n{BLOCK}b\n", None),
    ],
)
def test_a_block_is_written_where_the_task_says_and_taken_away(arguments, before, after):
    host = DictFiles({SSHD: before})
    actions = translate_tasks(f"- blockinfile: {{path: {SSHD}, {arguments}}}", host)
    assert compute_changed_file_states(actions, host)[SSHD].content.decode() == after if after else actions == ()


def test_a_block_and_an_option_set_the_mode_of_their_file():
    block = f"- blockinfile: {{path: {SSHD}, block: '', mode: '0600'}}"
    option = f"- ini_file: {{path: {SSHD}, section: a, option: b, state: absent, mode: '0600'}}"
    assert translate_tasks(block, HOST) == translate_tasks(option, HOST) == (Chmod(path=SSHD, mode="0600"),)


@pytest.mark.parametrize(
    ("arguments", "before", "after"),
    [
        ("value: 2", "[a]\nb = 1\n", "[a]\nb = 2\n"),
        ("value: 2", "[a]\nc = 1\n[d]\nb = 1\n", "[a]\nc = 1\nb = 2\n[d]\nb = 1\n"),
        ("value: 2, no_extra_spaces: true", "x = 1\n", "x = 1\n[a]\nb=2\n"),
        ("state: absent", "[a]\nb = 1\nc = 1\nb=2\n[d]\nb = 1\n", "[a]\nc = 1\n[d]\nb = 1\n"),
        ("value: 9, state: absent", "[a]\nb = 1\n", "[a]\n"),
        ("value: 2", "[a]\nb = 1\nc = 1\nb = 3\n[d]\nb = 1\n", "[a]\nb = 2\nc = 1\n[d]\nb = 1\n"),
        ("value: 2", "[a]\nb = 1\nc = 1\nb=2\nb = 2\n", "[a]\nc = 1\nb = 2\n"),
        ("value: 2", "[a]\n# b = 1\nc = 1\n", "[a]\nb = 2\nc = 1\n"),
        ("value: 2, modify_inactive_option: false", "[a]\n;b = 1\n", "[a]\n;b = 1\nb = 2\n"),
        ("state: absent", "[a]\nc = 1", None),
        ("state: absent", "[d]\nb = 1\n", None),
    ],
)
def test_an_option_of_a_section_is_set_or_taken_away(arguments, before, after):
    host = DictFiles({SSHD: before})
    actions = translate_tasks(f"- ini_file: {{path: {SSHD}, section: a, option: b, {arguments}}}", host)
    assert compute_changed_file_states(actions, host)[SSHD].content.decode() == after if after else actions == ()


@pytest.mark.parametrize(
    ("task", "before", "after"),
    [
        ("lineinfile: {regexp: ^b, line: c, firstmatch: true}", "b 1\nb 2\n", "c\nb 2\n"),
        ("lineinfile: {line: c, insertafter: ^b, firstmatch: true}", "b 1\nb 2\n", "b 1\nc\nb 2\n"),
        ("lineinfile: {search_string: a.b, line: c}", "a.b x\naxb\n", "c\naxb\n"),
        ("lineinfile: {search_string: a.b, state: absent}", "a.b x\naxb\n", "axb\n"),
        ("replace: {regexp: ^b$, replace: c, after: '^x\\n'}", "x\nb\n", "x\nc\n"),
        ("replace: {regexp: b, replace: c, after: x, before: y}", "b\nx b\ny b y\n", "b\nx c\ny b y\n"),
        ("replace: {regexp: b, replace: c, before: y}", "b\nx b\ny b\n", "c\nx c\ny b\n"),
        ("replace: {regexp: b, replace: c, after: z}", "b\n", None),
        ("replace: {regexp: b, replace: c, owner: root, group: '0'}", "b\n", "c\n"),
    ],
)
def test_a_line_and_a_text_are_chosen_as_the_task_says(task, before, after):
    host = DictFiles({SSHD: before})
    actions = translate_tasks(f"- {task.replace('{', f'{{path: {SSHD}, ', 1)}", host)
    assert compute_changed_file_states(actions, host)[SSHD].content.decode() == after if after else actions == ()


@pytest.mark.parametrize(
    "task",
    [
        "copy: {content: x",
        "lineinfile: {line: UsePAM yes",
        "lineinfile: {line: x",
        "lineinfile: {line: x, state: absent",
        "blockinfile: {block: x",
        "ini_file: {section: a, option: b, value: 1",
        "replace: {regexp: a, replace: b",
    ],
)
def test_another_owner_of_a_changed_file_cannot_be_told_beforehand(task):
    for owner in ("owner: ana", "group: adm"):
        with pytest.raises(Undecidable, match=f"another {owner.split(':')[0]}"):
            translate_tasks(f"- {task}, path: {SSHD}, {owner}}}", HOST)


def test_nothing_is_taken_from_a_file_that_is_not_there():
    assert translate_tasks("- ini_file: {path: /etc/x, section: a, option: b, state: absent}", HOST) == ()
    assert translate_tasks("- blockinfile: {path: /etc/x, create: true, state: absent}", HOST) == ()


def test_what_is_so_already_needs_no_action():
    assert translate_tasks("- lineinfile: {path: /etc/ssh/sshd_config, line: UsePAM yes}", HOST) == ()
    assert translate_tasks("- file: {path: /etc/nowhere, mode: '0600'}", HOST) == ()


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ("path: /etc/ssh/sshd_config, owner: '0'", ()),
        ("path: /etc/nowhere, owner: ana", ()),
        ("path: /etc/gshadow-, owner: '0'", {"owner": "root"}),
        ("path: /etc/gshadow-, group: 0", {"owner": ":root"}),
        ("path: /etc/gshadow-, owner: root, group: root, mode: '0600'", {"mode": "0600", "owner": "root:root"}),
        ("path: /etc/ssh, mode: 0755, state: directory", {"mode": "0755"}),
        ("path: /etc/ssh, group: root", {"owner": ":root"}),
    ],
)
def test_an_owner_and_a_folder_are_set_by_an_action_of_their_own(arguments, asked):
    files = Overlay(HOST, {"/etc/gshadow-": FileState(b"x", 0o640, "ana:shadow")})
    path = arguments.split(",")[0].removeprefix("path: ")
    task = f"- file: {{{arguments}}}"
    assert translate_tasks(task, files) == ((SetPermissions(path=path, **asked),) if asked else ())
    assert translate_tasks(f"{task}\n  check_mode: true", files) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- command: aideinit -y", "The module command"),
        ("- shell: rm -rf /", "The module shell"),
        ("- file: {path: /etc/ssh/sshd_config, owner: 'a b'}", "no typed action takes"),
        ("- file: {path: /etc/ssh, mode: u+w}", "depends on the one before"),
        ("- file: {path: /etc/ssh, owner: root, recurse: true}", "with all that is in it"),
        ("- file: {path: /etc/ssh, owner: root, recurse: 1}", "with all that is in it"),
        ("- file: {path: /etc/ssh, owner: root, recurse: 'on'}", "with all that is in it"),
        ("- {set_fact: {a: 1}, with_together: 7}", "goes over no list"),
        ("- {set_fact: {a: 1}, with_together: ['1', [2]]}", "goes over no list"),
        ("- {set_fact: {a: 1}, with_together: [7, [2]]}", "goes over no list"),
        ("- file: {path: /etc/x, state: directory}", "would become directory"),
        ("- lineinfile: {path: '{{ nowhere.to_be_found }}', line: x}", "cannot be evaluated"),
        ("- lineinfile: {path: x, line: x}", "names no file"),
        ("- lineinfile: {path: /etc/ssh/sshd_config, regexp: '(', line: x}", "not one of this language"),
        ("- find: {paths: /etc/ssh, patterns: '(', use_regex: true}", "not one of this language"),
        ("- find: {paths: /etc/ssh, contains: '('}", "not one of this language"),
        (
            r"- lineinfile: {path: /etc/ssh/sshd_config, regexp: P, line: '\9', backrefs: true}",
            "not one of this language",
        ),
        (r"- replace: {path: /etc/ssh/sshd_config, regexp: P, replace: '\g<x>'}", "not one of this language"),
        ("- set_fact: {a: '{{ ().__class__.__bases__ }}'}", "cannot be evaluated"),
        ("- package: {name: 'a b; rm'}", "no typed action takes"),
        ("- debug: {msg: x}\n  loop: [1]\n- file: {path: /etc/x, mode: odd, state: touch}", "is not understood"),
        ("- sysctl: {name: kernel.x}", "lacks 'value'"),
        ("- blockinfile: {path: /etc/x, state: absent}", "is not there"),
        ("- blockinfile: {path: /etc/issue, block: x, append_newline: true}", "append_newline"),
        ("- ini_file: {path: /etc/x, section: a, option: b, value: 1, create: false}", "is not there"),
        ("- ini_file: {path: /etc/x, section: a, option: b, values: [1, 2]}", "values"),
        ("- ini_file: {path: /etc/x, section: a, option: b, value: 1, exclusive: false}", "exclusive"),
        ("- ini_file: {path: /etc/x, section: a, option: b}", "lacks 'value'"),
        ("- ini_file: {path: /etc/x, section: null, option: b, value: 1, create: true}", "without a section"),
        ("- ini_file: {path: /etc/x, section: a, state: absent}", "lacks 'option'"),
        ("tasks: none", "no list of tasks"),
        ("- [", "no YAML"),
        ("- !!python/object/apply:os.system [id]", "no YAML"),
        ("- just a word", "no mapping"),
        ("- {name: Disable it, tags: [a]}", "'Disable it' names no module"),
    ],
)
def test_what_cannot_be_told_beforehand_is_said(text, why):
    with pytest.raises(Undecidable, match=why):
        translate_tasks(text, HOST)


def test_a_mount_is_asked_for_the_options_that_its_line_lacks():
    text = """
- command: findmnt --fstab '/home'
  register: found
- set_fact: {about: '{{ about|default({})|combine({item.0: item.1}) }}'}
  with_together:
  - '{{ found.stdout_lines[0].split() | list | lower }}'
  - '{{ found.stdout_lines[1].split() | list }}'
- set_fact: {about: '{{ about | combine({"options": about.options ~ ",nosuid"}) }}'}
- mount: {path: /home, src: '{{ about.source }}', opts: '{{ about.options }}', state: mounted, fstype: ext4}
"""
    assert translate_tasks(text, HOST) == (AddMountOptions(mount="/home", options=("nosuid",)),)
    with pytest.raises(Undecidable, match="no line in /etc/fstab"):
        translate_tasks("- mount: {path: /srv, opts: nodev}", HOST)


def test_shared_memory_is_mounted_without_a_line():
    text = "- mount: {path: /dev/shm, opts: 'rw,nosuid,nodev,noexec', state: mounted}"
    assert translate_tasks(text, HOST) == (AddMountOptions(mount="/dev/shm", options=("noexec",)),)


@pytest.mark.parametrize(
    ("command", "code", "lines"),
    [
        ("grep '^X11Forwarding=*' /etc/ssh/sshd_config", 0, ["X11Forwarding yes", "X11Forwarding no"]),
        ("grep PermitRootLogin /etc/fstab", 1, []),
        ("grep GRUB /etc/default/grub", 2, []),
        ("grep 'n?o|(a+b){1}' /etc/issue", 0, ["n?o|(a+b){1}"]),
        ("grep '[+] n?' /etc/issue", 1, []),
        ("findmnt --fstab /srv", 1, []),
        ("findmnt  '/dev/shm'", 0, ["TARGET SOURCE FSTYPE OPTIONS", "/dev/shm tmpfs tmpfs rw,nosuid,nodev"]),
        ("findmnt --fstab /dev/shm", 1, []),
        ("/usr/sbin/update-grub", 0, []),
        ("sysctl -p /etc/sysctl.d/10-a.conf", 0, []),
        ("/sbin/sysctl -q -w kernel.kptr_restrict=1", 0, []),
    ],
)
def test_a_command_that_only_looks_is_answered_from_the_files(command, code, lines):
    found = do_command_and_predict_output(command, ScratchFiles(HOST))
    assert (found["rc"], found["stdout_lines"]) == (code, lines)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "sysctl -n kernel.kptr_restrict",
        "grep -r x /etc",
        r"grep 'a\(b\)' /etc/fstab",
        "grep '[' /etc/fstab",
        "'",
    ],
)
def test_a_command_that_does_anything_else_is_not_told_beforehand(command):
    with pytest.raises(Undecidable):
        do_command_and_predict_output(command, ScratchFiles(HOST))


def test_endless_loops_are_ended():
    many = "- set_fact: {a: [" + ",".join("1" for _ in range(99)) + "]}\n"
    step = "- set_fact: {b: '{{ item }}'}\n  loop: '{{ a }}'\n"
    with pytest.raises(Undecidable, match="too many steps"):
        translate_tasks(many + step * 30, HOST)


def test_folders_below_a_folder_are_searched_as_far_as_they_are_told():
    text = r"""
- find: {paths: /etc/ssh/sshd_config.d, recurse: 'yes', contains: '(?i)^\s*{{ "PermitRootLogin" | regex_escape }}\s+'}
  register: found
- lineinfile: {path: '{{ item.path }}', regexp: '^PermitRootLogin ', state: absent}
  with_items: '{{ found.files }}'
"""
    below = "/etc/ssh/sshd_config.d/site/a.conf"
    host = DictFiles({below: "PermitRootLogin yes\nUsePAM yes\n", "/etc/ssh/sshd_config.d/b.conf": "UsePAM yes\n"})
    changed = compute_changed_file_states(translate_tasks(text, host), host)
    assert {path: state.content for path, state in changed.items()} == {below: b"UsePAM yes\n"}
    deep = DictFiles({"/etc/ssh/sshd_config.d/1/2/3/4.conf": "PermitRootLogin yes\n"})
    with pytest.raises(Undecidable, match="more levels of folders"):
        translate_tasks(text, deep)
