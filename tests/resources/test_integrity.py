import shutil
import subprocess
from pathlib import Path

import pytest

from app.resources.integrity import BuildIntegrityDatabase, find_candidates, find_objection_to_replacing_database
from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.targets.ssh.shell_script import read_script_part
from tests.resources.case import KindCase, Sample

ACTION = BuildIntegrityDatabase(tool="aide")
CASE = KindCase(
    samples=(
        Sample(
            ACTION,
            HostState("no database"),
            ResourceState("integrity:aide", "no database", "a database"),
            ResourceState("integrity:aide", "a database", "another database"),
        ),
    ),
    rule=RuleTexts("x", "Initialize AIDE:\n\n$ sudo /usr/sbin/aide --init"),
    prepare=r"""
mkdir -p /etc/aide /var/lib/aide
{
  echo '@@define DBDIR /var/lib/aide'
  echo 'database_in=file:@@{DBDIR}/aide.db'
  echo 'database_out = file:@@{DBDIR}/aide.db.new'
} >/etc/aide/aide.conf
rm /bin && mkdir /bin && ln -s /usr/bin/sh /bin/sh
cat >/bin/aide <<'TOOL'
#!/bin/sh
echo files >/var/lib/aide/aide.db.new
TOOL
chmod 0755 /bin/aide
""",
)


def test_a_database_that_exists_is_not_built_anew():
    states = (ResourceState("integrity:aide", "a database", "another database"),)
    assert find_objection_to_replacing_database(ForeseenStates(states)).clause == "weakening"


def test_content_that_only_names_the_rule_asks_for_it_too():
    assert list(find_candidates(RuleTexts("xccdf_org.ssgproject.content_rule_aide_build_database", ""))) == [ACTION]


@pytest.mark.parametrize(
    ("config", "kept", "new"),
    [
        # Debian's and RHEL's forms, a comment, and a database that is no file.
        ("database_in=file:/a/b.db\ndatabase_out=file:/a/b.db.new\n", "/a/b.db", "/a/b.db.new"),
        (
            "@@define D /a\n@@define X /x\n#database=/no\ndatabase=file:@@{D}/b.gz\ndatabase_out=file:@@{X}/b.new.gz\n",
            "/a/b.gz",
            "/x/b.new.gz",
        ),
        ("database_in=https://one/b.db\ndatabase_out=stdout\n", "", ""),
        ("database_in=file:@@{UNKNOWN}/b.db\n", "", ""),
    ],
)
def test_the_files_are_those_of_aides_own_configuration(tmp_path: Path, config, kept, new):
    conf = tmp_path / "aide.conf"
    conf.write_text(config)
    asked = f"{read_script_part('integrity')}\naide_config() {{ echo {conf}; }}\n"
    asked += 'echo "$(aide_file database_in) $(aide_file database_out)"'
    said = subprocess.run([shutil.which("sh"), "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout == f"{kept} {new}\n"
