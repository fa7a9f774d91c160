"""Checks of the FIPS ciphers and MACs, in the crypto policy's back-end and in effect in sshd."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdicts import RuleJudge, format_location, quote_host_text
from app.syntax import sshd
from app.syntax.files import Files
from app.syntax.sshd import BACKEND

CIPHERS = ("aes256-gcm@openssh.com", "aes256-ctr", "aes128-gcm@openssh.com", "aes128-ctr")
MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")


def check_algorithms(rule: str, keyword: str, wanted: tuple[str, ...]) -> Check:
    bench = RuleJudge(rule, BACKEND)

    @bench.check_text
    def check_files(files: Files, text: str) -> Verdict:
        listed = sshd.find_algorithms(text, keyword)
        if listed is None:
            return bench.fails(f"{BACKEND} has no {keyword} line; {','.join(wanted)} is wanted.")
        if listed.value != ",".join(wanted):
            return bench.fails(
                f"{format_location(listed)} {_describe_difference(keyword, listed.value, wanted)}", listed
            )
        in_force = sshd.read_sshd_config(files).get(keyword)
        if in_force is None:
            return bench.fails(
                f"{format_location(listed)} has the FIPS list, but no Include of sshd_config reads that file.", listed
            )
        if in_force.value != listed.value:
            return bench.fails(
                f"{format_location(listed)} has the FIPS list, but sshd meets "
                f"{format_location(in_force)} first, and that line "
                f"{_describe_difference(keyword, in_force.value, wanted)}",
                in_force,
            )
        return bench.passes(f"{format_location(listed)} lists exactly the FIPS {keyword}, and sshd reads it.", listed)

    return check_files


def _describe_difference(keyword: str, value: str, wanted: tuple[str, ...]) -> str:
    found = value.split(",")
    extra = [name for name in found if name not in wanted]
    missing = [name for name in wanted if name not in found]
    if extra:
        return f"allows {quote_host_text(', '.join(extra))}, which the FIPS list of {keyword} does not have."
    if missing:
        return f"leaves out {', '.join(missing)} of the FIPS list of {keyword}."
    return f"has the FIPS {keyword} in another order or twice; {','.join(wanted)} is wanted."
