"""The mode and owner of files that the deploy account uploads to the mission's inbox."""

from dataclasses import dataclass

from app.syntax import key_value_config_parsers
from app.syntax.host_files_protocol import Files, FileState
from app.syntax.setting import Setting, find_last

MISSION_CONFIG, BACKUP_CONFIG = "/etc/mission/mission.conf", "/etc/mission/backup.conf"
LOGIN_DEFS = "/etc/login.defs"
UPLOADER, READER = "deploy", "mission"
_DEFAULT_UMASK = "022"


@dataclass(frozen=True)
class Umask:
    bits: int
    description: str


def find_inbox(files: Files) -> str | None:
    found = find_last(read_mission_conf(files), "inbox.path")
    return None if found is None else found.value


def read_mission_conf(files: Files) -> list[Setting]:
    return key_value_config_parsers.read_setting_files(files, [MISSION_CONFIG], key_value_config_parsers.parse_ini)


def find_upload_umask_defaulting_if_unset(files: Files) -> Umask | None:
    """Return the umask of uploads, or None if the configured value is invalid."""
    own = find_last(read_mission_conf(files), "inbox.upload_umask")
    if own is not None and own.value != "login":
        return _parse_umask(own)
    login = find_last(
        key_value_config_parsers.read_setting_files(files, [LOGIN_DEFS], key_value_config_parsers.parse_login_defs),
        "UMASK",
    )
    return _parse_umask(login or Setting("UMASK", _DEFAULT_UMASK, LOGIN_DEFS, 0))


def predict_upload(folder: FileState, umask: Umask) -> FileState:
    group = folder.owner.rpartition(":")[2] if folder.mode & 0o2000 else UPLOADER
    return FileState(b"", 0o666 & ~umask.bits, f"{UPLOADER}:{group}")


def _parse_umask(setting: Setting) -> Umask | None:
    digits = setting.value
    if not digits or len(digits) > 4 or any(digit not in "01234567" for digit in digits):
        return None
    where = f"{setting.path} line {setting.line}" if setting.line else f"{setting.path} names none"
    return Umask(int(digits, 8), f"umask {digits} ({where})")


def find_nightly_backup_account_setting(files: Files) -> Setting | None:
    settings = key_value_config_parsers.read_setting_files(files, [BACKUP_CONFIG], key_value_config_parsers.parse_ini)
    return find_last(settings, "backup.login")
