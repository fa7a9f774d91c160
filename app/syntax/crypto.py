"""The crypto policy's back-end file for sshd: sshd_config lines without Match; the first of a keyword counts."""

from app.syntax import host_text
from app.syntax.setting import Setting
from app.syntax.sshd_line import parse_directive

BACKEND = "/etc/crypto-policies/back-ends/opensshserver.config"


def find_algorithms(text: str, keyword: str, path: str = BACKEND) -> Setting | None:
    for number, line in host_text.number_lines(text):
        found = parse_directive(line)
        if found is not None and host_text.fold_case(found.keyword) == host_text.fold_case(keyword):
            return Setting(found.keyword, found.value, path, number)
    return None
