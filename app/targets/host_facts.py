"""Short facts about a host for the roles that plan, read from its files."""

from app.syntax import host_text, sshd
from app.syntax.host_files_protocol import Files
from app.targets import uploaded_file_mode_and_backup_account
from app.targets.host_accounts import AGENT, read_host_accounts
from app.text.clean import clean_text

_DROP_INS = (
    *("/etc/ssh/sshd_config.d/*.conf", "/etc/security/pwquality.conf.d/*.conf", "/etc/security/limits.d/*.conf"),
    *("/etc/sudoers.d/*", "/etc/profile.d/*.sh", "/etc/modprobe.d/*.conf", "/etc/audit/rules.d/*.rules"),
)
_SERVICES = {
    "sshd": "/etc/ssh/sshd_config",
    "auditd": "/etc/audit/auditd.conf",
    "chronyd": "/etc/chrony.conf",
    "rsyslog": "/etc/rsyslog.conf",
    "mission": uploaded_file_mode_and_backup_account.MISSION_CONFIG,
}
_LONGEST = 500


def read_host_facts(files: Files) -> dict[str, str]:
    who = read_host_accounts(files)
    backup, umask = (
        uploaded_file_mode_and_backup_account.find_nightly_backup_account_setting(files),
        uploaded_file_mode_and_backup_account.find_upload_umask_defaulting_if_unset(files),
    )
    blocks = sshd.read_sshd_config(files).matches
    matches = [f"Match {block.criteria} ({block.path} line {block.line})" for block in blocks]
    drop_ins = [path for pattern in _DROP_INS for path in host_text.glob_paths_like_shell(files, pattern)]
    admins = [account.name for account in who.list_other_administrators()]
    inbox = uploaded_file_mode_and_backup_account.find_inbox(files)
    uploaded = f"deploy puts files into {inbox} under {umask and umask.description}"
    said = {
        "system": (host_text.read_text(files, "/etc/redhat-release") or "unknown").strip(),
        "services": ", ".join(name for name, path in _SERVICES.items() if files.state(path) is not None),
        "agent": f"this program works as {AGENT}; its account, key and sudo drop-in are protected",
        "administrators": ", ".join(admins) or "none besides root",
        "backup": f"the nightly backup logs in as {backup.value} ({backup.path})" if backup else "not configured",
        "uploads": uploaded if inbox and umask else "not configured",
        "drop-ins": ", ".join(drop_ins) or "none",
        "sshd match blocks": "; ".join(matches) or "none",
    }
    return {name: clean_text(text, _LONGEST) for name, text in said.items()}


_LOGS = {"secure": "/var/log/secure", "messages": "/var/log/messages", "audit": "/var/log/audit/audit.log"}
_LONGEST_LINE = 300


def read_log_lines(files: Files, limit: int) -> list[str]:
    """Return up to `limit` lines, oldest first within each log. Short logs leave their share to the others."""
    texts = {name: host_text.read_text(files, path) or "" for name, path in _LOGS.items()}
    logs = {name: [line for line in text.split("\n") if line.strip()] for name, text in texts.items()}
    room, shown = limit, []
    for left, (name, lines) in zip((3, 2, 1), sorted(logs.items(), key=lambda log: len(log[1])), strict=True):
        newest = lines[len(lines) - min(len(lines), room // left) :]
        room -= len(newest)
        shown += [f"{name}: {clean_text(line, _LONGEST_LINE)}" for line in newest]
    return shown
