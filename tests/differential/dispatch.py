"""libpam's own word: run behind a wall with a service's files in /etc/pam.d, and asked for each kind in turn."""

import ctypes
import sys

KINDS = ("auth", "account", "password", "session")
_CALLS = ("pam_authenticate", "pam_acct_mgmt", "pam_chauthtok", "pam_open_session")
_FAIL_DELAY, _CONV_ERR = 10, 19


class Conversation(ctypes.Structure):
    _fields_ = (("converse", ctypes.c_void_p), ("appdata", ctypes.c_void_p))


def answers(service: str) -> list[int]:
    """A number for each kind; -1 where libpam would not begin."""
    library = ctypes.CDLL("libpam.so.0")
    library.pam_set_item.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    talk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        lambda *_: _CONV_ERR
    )
    no_delay = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)(lambda *_: None)
    found = []
    for call in _CALLS:
        handle = ctypes.c_void_p()
        conversation = Conversation(ctypes.cast(talk, ctypes.c_void_p), None)
        begun = library.pam_start(service.encode(), b"root", ctypes.byref(conversation), ctypes.byref(handle))
        if begun:
            found.append(-1)
            continue
        library.pam_set_item(handle, _FAIL_DELAY, ctypes.cast(no_delay, ctypes.c_void_p))
        found.append(getattr(library, call)(handle, 0))
        library.pam_end(handle, 0)
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(f"{name} {' '.join(map(str, answers(name)))}\n")
        sys.stdout.flush()
