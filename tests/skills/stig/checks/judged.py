"""What a rule's check says of files."""

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles


def judge(rule, files):
    return STIG.rules[rule].check(DictFiles(files))
