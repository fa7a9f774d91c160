"""A host out of a dict, as the policy wants to see one: without a link."""

from tests.hostfiles import DictFiles


class Linkless(DictFiles):
    def find_first_link(self, _path: str) -> str | None:
        return None
