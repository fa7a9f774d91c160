from app.syntax.sshd import read_sshd_config
from app.syntax.sshd_match import matches_conditions
from app.targets.effects.choice_of_sshd_test_connections import list_connection_per_match_combination
from app.targets.host_accounts import read_host_accounts
from tests.targets.hosts import host

MAIN = "/etc/ssh/sshd_config"


def cases(*mains):
    files = [host({MAIN: main}) for main in mains]
    return list_connection_per_match_combination([read_sshd_config(one) for one in files], read_host_accounts(files[0]))


def test_without_a_match_block_there_is_one_case():
    assert list(cases("PermitRootLogin no\n")) == [""]


def test_each_way_in_which_blocks_come_together_is_a_case_once():
    found = cases("Match User bob\nMatch Address 10.0.0.0/8\nMatch User bob Address 10.1.0.0/16\nMatch all\n")
    assert set(found) == {
        "",
        "user bob",
        "address 10.0.0.0/8",
        "user bob and address 10.0.0.0/8",
        "user bob and address 10.0.0.0/8 and user bob address 10.1.0.0/16",
    }


def test_what_one_side_alone_asks_for_is_a_case_of_both():
    assert set(cases("Match User bob\n", "Match Group wheel\n")) >= {"user bob", "group wheel"}


def test_what_an_exclamation_mark_leaves_out_is_not_taken_for_the_rest():
    found = cases("Match Address 192.168.0.0/16,!192.168.9.0/24\nMatch Address 192.168.9.0/24\n")
    who = found["address 192.168.0.0/16,!192.168.9.0/24"].address
    assert who.startswith("192.168.")
    assert not who.startswith("192.168.9.")
    assert found["address 192.168.9.0/24"].address.startswith("192.168.9.")


def test_two_patterns_that_can_mean_one_name_are_met_together():
    assert "user a* and user *b" in cases("Match User a*\nMatch User *b\n")


def test_a_member_of_a_group_is_one_that_is_there():
    assert cases("Match Group wheel\n")["group wheel"].user == "opsadmin"
    hypothetical = cases("Match Group nobodies\n")["group nobodies"]
    assert hypothetical.groups == {"nobodies"}


def test_every_case_fits_what_its_words_say():
    main = "Match Host *.example LocalPort 22\nMatch LocalAddress 2001:db8::/32\nMatch RDomain x,y*\n"
    config = read_sshd_config(host({MAIN: main}))
    found = list_connection_per_match_combination([config], read_host_accounts(host()))
    assert len(found) == 8
    for block in config.matches:
        words = " ".join(f"{name} {value}" for name, value in block.conditions)
        assert all(
            matches_conditions(block.conditions, who) == (words in case.split(" and ")) for case, who in found.items()
        )


def test_a_question_mark_in_an_address_stands_for_a_digit():
    assert {one.address for one in cases("Match Address 10.0.0.?,192.168.*\n").values()} >= {"10.0.0.1"}
