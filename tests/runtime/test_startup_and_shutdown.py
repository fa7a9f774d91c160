import subprocess
import sys

AT_ONCE = """
import sys, threading, types
import msgspec
from app.runtime.startup_and_shutdown import build_struct_decoders_before_threads

PAIRS = 300
sys.setswitchinterval(1e-6)
made = []
for number in range(PAIRS):
    module = sys.modules[f"m{number}"] = types.ModuleType(f"m{number}")
    about = {"__module__": module.__name__}
    module.Inner = type("Inner", (msgspec.Struct,), about | {"__annotations__": {"a": "int"}})
    made.append(type("Outer", (msgspec.Struct,), about | {"__annotations__": {"e": "dict[str, Inner]", "y": "int"}}))
if "made-out" in sys.argv:
    build_struct_decoders_before_threads()
for outer in made:
    begin = threading.Barrier(4)
    def decode():
        begin.wait()
        msgspec.json.decode(b'{"e":{"q":{"a":1}},"y":1}', type=outer)
    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_what_was_made_out_is_decoded_by_many_threads_at_once():
    done = subprocess.run([sys.executable, "-c", AT_ONCE, "made-out"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
