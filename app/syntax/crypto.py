"""The crypto policy's back-end file for sshd: sshd_config lines without Match; the first of a keyword counts."""

from app.syntax import source
from app.syntax.setting import Setting
from app.syntax.sshd_line import directive

BACKEND = "/etc/crypto-policies/back-ends/opensshserver.config"


def algorithms(text: str, keyword: str, path: str = BACKEND) -> Setting | None:
    for number, line in source.numbered(text):
        found = directive(line)
        if found is not None and source.fold(found.keyword) == source.fold(keyword):
            return Setting(found.keyword, found.value, path, number)
    return None
