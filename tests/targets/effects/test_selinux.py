import pytest

from app.targets.effects.selinux import PATH
from tests.targets.effects.change import lost

TARGETED = {PATH: "SELINUX=enforcing\nSELINUXTYPE=targeted\n", "/etc/selinux/targeted/seusers": "root:x\n"}


@pytest.mark.parametrize(
    "now",
    [
        "SELINUX=permissive\nSELINUXTYPE=targeted\n",
        "SELINUX=permissive\nSELINUX=enforcing\n",
        "selinux=enforcing\n",
        "SELINUX=enforcing\nSELINUXTYPE=mls\n",
        "SELINUX=enforcing\nSELINUXTYPE=targeted # ours\n",
        "",
    ],
)
def test_it_stays_on_with_the_policy_that_is_there(now):
    assert lost(TARGETED, {PATH: now})


def test_a_host_without_labels_is_not_made_to_enforce():
    assert lost({PATH: "SELINUX=disabled\n"}, {PATH: "SELINUX=enforcing\n"})
    assert lost({PATH: "SELINUX=permissive\n"}, {PATH: "SELINUX=enforcing\n"}) == ""
