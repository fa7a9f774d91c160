"""A small host that is in order, to be put out of order one file at a time."""

from app.syntax.host_files_protocol import FileState
from tests.hostfiles import DictFiles

TODAY = 20_000
KEY = "ssh-ed25519 AAAAC3Nza someone@somewhere\n"

FILES: dict[str, FileState] = {
    path: FileState(text.encode(), mode, owner)
    for path, text, mode, owner in (
        (
            "/etc/passwd",
            (
                "root:x:0:0:root:/root:/bin/bash\nmission:x:991:991::/var/lib/mission:/sbin/nologin\n"
                "svc-backup:x:990:990::/var/lib/svc-backup:/bin/bash\nopsadmin:x:1000:1000::/home/opsadmin:/bin/bash\n"
                "temper:x:1001:1001::/home/temper:/bin/bash\ndeploy:x:1002:1002::/home/deploy:/bin/bash\n"
            ),
            0o644,
            "root:root",
        ),
        (
            "/etc/shadow",
            (
                "root:$6$x:1:0:99999:7:::\nmission:!!:1::::::\nsvc-backup:!!:1::::::\nopsadmin:$6$x:1:0:99999:7:::\n"
                "temper:!!:1::::::\ndeploy:!!:1::::::\n"
            ),
            0o000,
            "root:root",
        ),
        (
            "/etc/group",
            (
                "root:x:0:\nwheel:x:10:opsadmin\nmission:x:991:deploy\nsvc-backup:x:990:\nopsadmin:x:1000:\n"
                "temper:x:1001:\ndeploy:x:1002:\n"
            ),
            0o644,
            "root:root",
        ),
        ("/etc/ssh/sshd_config", "PermitRootLogin yes\nMatch User deploy\n\tPermitTTY no\n", 0o600, "root:root"),
        ("/etc/sudoers", "root ALL=(ALL) ALL\n%wheel ALL=(ALL) ALL\n#includedir /etc/sudoers.d\n", 0o440, "root:root"),
        ("/etc/sudoers.d/temper", "temper ALL=(ALL) NOPASSWD: ALL\n", 0o440, "root:root"),
        (
            "/etc/pam.d/system-auth",
            (
                "auth required pam_env.so\nauth sufficient pam_unix.so\nauth required pam_deny.so\n"
                "account required pam_unix.so\npassword required pam_unix.so\n"
            ),
            0o644,
            "root:root",
        ),
        (
            "/etc/pam.d/password-auth",
            (
                "auth sufficient pam_unix.so\nauth required pam_deny.so\n"
                "account required pam_unix.so\npassword required pam_unix.so\n"
            ),
            0o644,
            "root:root",
        ),
        (
            "/etc/pam.d/sshd",
            "auth substack password-auth\naccount include password-auth\npassword include password-auth\n",
            0o644,
            "root:root",
        ),
        ("/etc/pam.d/sudo", "auth include system-auth\naccount include system-auth\n", 0o644, "root:root"),
        (
            "/etc/pam.d/login",
            "auth substack system-auth\naccount include system-auth\npassword include system-auth\n",
            0o644,
            "root:root",
        ),
        (
            "/etc/pam.d/su",
            "auth sufficient pam_rootok.so\nauth substack system-auth\naccount include system-auth\n",
            0o644,
            "root:root",
        ),
        ("/etc/pam.d/passwd", "password include system-auth\n", 0o644, "root:root"),
        ("/etc/login.defs", "UMASK\t022\n", 0o644, "root:root"),
        ("/etc/mission/mission.conf", "[inbox]\npath = /srv/inbox\nupload_umask = login\n", 0o640, "root:mission"),
        ("/etc/mission/backup.conf", "[backup]\nlogin = root\n", 0o644, "root:root"),
        ("/srv/inbox", "", 0o2770, "deploy:mission"),
        ("/root/.ssh/authorized_keys", KEY, 0o600, "root:root"),
        ("/home/temper/.ssh/authorized_keys", KEY, 0o600, "temper:temper"),
        ("/home/opsadmin/.ssh/authorized_keys", KEY, 0o600, "opsadmin:opsadmin"),
        ("/var/lib/svc-backup/.ssh/authorized_keys", KEY, 0o600, "svc-backup:svc-backup"),
    )
}


def host(changes: dict[str, str | FileState | None] | None = None) -> DictFiles:
    """The host with other texts, states, or without a file."""
    files: dict[str, FileState | str | bytes] = dict(FILES)
    for path, change in (changes or {}).items():
        if change is None:
            del files[path]
        elif isinstance(change, FileState):
            files[path] = change
        else:
            known = FILES.get(path, FileState(b"", 0o644, "root:root"))
            files[path] = FileState(change.encode(), known.mode, known.owner)
    return DictFiles(files)


def text_of(path: str) -> str:
    return FILES[path].content.decode()
