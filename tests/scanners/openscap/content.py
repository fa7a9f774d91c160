"""What these tests read: an asset report of a real scan, cut down, and a data stream written for them."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "data"
ARF = DATA / "arf" / "debian12-anssi.xml"
SMALL = DATA / "scap" / "small-ds.xml"
STIG = DATA / "stig" / "U_SMALL_STIG_V2R9_Manual-xccdf.xml"
"""In the form in which DISA publishes; the words are ours."""
SSG = "xccdf_org.ssgproject.content_rule_"
RULE = "xccdf_temper.test_rule_"
PROFILE = "xccdf_temper.test_profile_"
VALUE = "xccdf_temper.test_value_"
TAILORING = DATA / "scap" / "small-tailoring.xml"
