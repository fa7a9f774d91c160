"""The Sentry's probes that a host's own tools can run without Temper."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.events.vocabulary import Probe


@dataclass(frozen=True)
class PlainCheck:
    """`script` runs in sh, changes nothing, and exits 0 if the check passes."""

    probe: str
    asks: str
    script: str


_PAM_MODULES = r"""modules=$(sed -n 's/^[^#]*[[:space:]]\(pam_[A-Za-z0-9_]*\.so\).*/\1/p' /etc/pam.d/* | sort -u)
for module in $modules; do
  for folder in /lib/security /lib64/security /usr/lib/security /usr/lib64/security /lib/*/security /usr/lib/*/security
  do [ -e "$folder/$module" ] && continue 2; done
  grep -h "$module" /etc/pam.d/* | grep -v '^[[:space:]]*[#-]' | grep -q . || continue
  echo "$module is not there"; exit 1
done"""
_ADMINISTRATOR = """for group in wheel sudo admin; do
  for one in $(getent group "$group" | cut -d: -f4 | tr , ' '); do
    case $(getent passwd "$one" | cut -d: -f7) in */nologin|*/false|'') ;; *) exit 0 ;; esac
  done
done
echo 'nobody but root has a shell and is in wheel, sudo or admin'; exit 1"""

CHECKS = (
    PlainCheck("agent-sudo", "this runs as root", '[ "$(id -u)" = 0 ]'),
    PlainCheck("sshd-config", "sshd can read its files", "$(command -v sshd || echo /usr/sbin/sshd) -t"),
    PlainCheck("sudoers", "sudo can read its files", "visudo -c -q"),
    PlainCheck("pam", "every module that PAM is to ask is there", _PAM_MODULES),
    PlainCheck("administrator", "somebody else can become root", _ADMINISTRATOR),
    PlainCheck(
        "accounts",
        "only root has uid 0",
        """awk -F: '$3 == 0 && $1 != "root" { print $1 " has uid 0"; bad = 1 } END { exit bad }' /etc/passwd""",
    ),
)


def select_checks_of_passed_probes(probes: Iterable[Probe]) -> tuple[PlainCheck, ...]:
    """Return checks for the probes that passed in the run. A probe that failed there must not stop the script."""
    held = {probe.name for probe in probes if probe.ok}
    return tuple(check for check in CHECKS if check.probe in held)


def list_unchecked_probes(probes: Iterable[Probe]) -> tuple[str, ...]:
    """Return the names of probes without a plain check."""
    known = {check.probe for check in CHECKS}
    return tuple(probe.name for probe in probes if probe.name not in known)
