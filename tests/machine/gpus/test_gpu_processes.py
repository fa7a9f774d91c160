"""Given NVML's pids and a /proc: who holds the memory, and who cannot be seen from here."""

from dataclasses import replace
from types import SimpleNamespace

from app.engines.fit.fit_verdict import ProgramsOnGpu
from app.events.event_field_types import GpuProcess
from app.lineups.model import Launch
from app.machine.gpus.gpu_processes import OUTSIDE, GpuProcesses, list_foreign_programs_on_idle_gpus
from app.machine.gpus.gpu_reading import GpuReading
from tests.engines.fit.planning import engine, lineup

GIB = 1024**3
FIRST, OTHER = "pid:[4026531836]", "pid:[4026533001]"


def machine(root, namespace, processes):
    """`processes`: pid to (name, what its file descriptors are)."""
    (root / "self" / "ns").mkdir(parents=True)
    (root / "self" / "ns" / "pid").symlink_to(namespace)
    for pid, (name, files) in processes.items():
        (root / str(pid) / "fd").mkdir(parents=True)
        (root / str(pid) / "comm").write_text(name + "\n")
        for number, file in enumerate(files):
            (root / str(pid) / "fd" / str(number)).symlink_to(file)
    return root


def told(*processes):
    return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes]


def test_a_process_has_its_name_and_its_engine(tmp_path):
    proc = machine(tmp_path, FIRST, {7: ("VLLM::EngineCor", []), 9: ("Xorg", [])})
    holders = GpuProcesses(lambda pid: {7: "big"}.get(pid, ""), proc)
    assert holders.identify_processes(told((9, None), (7, 20 * GIB))) == (
        GpuProcess(7, 20.0, "big", "VLLM::EngineCor"),
        GpuProcess(9, None, "", "Xorg"),
    )
    assert holders.identify_processes([]) == ()


def test_what_holds_memory_beside_engines_that_are_down_is_listed_by_the_line_ups_gpus():
    launched = {"launch": Launch(port=8101)}
    engines = (
        replace(engine(gpus=(0,), **launched), name="down"),
        replace(engine(gpus=(1,), **launched), name="up"),
        replace(engine(gpus=(2,)), name="elsewhere"),
    )
    gpus = tuple(replace(gpu, number=gpu.index + 4) for gpu in lineup("h100:3").gpus)
    processes = GpuProcess(7, 20.0, "", "python"), GpuProcess(8, 1.5, "", ""), GpuProcess(9, 9.0, "down", "vllm")
    readings = [GpuReading(number, "NVIDIA H100", processes=processes) for number in (0, 4, 5, 6)]
    assert list_foreign_programs_on_idle_gpus(lineup(gpus, *engines), readings, ["up"]) == {
        0: ProgramsOnGpu(("python (process 7)", "a program (process 8)"), 21.5)
    }
    assert list_foreign_programs_on_idle_gpus(lineup(gpus, *engines), [], []) == {}


def test_what_is_listed_for_computing_and_for_drawing_counts_once(tmp_path):
    proc = machine(tmp_path, FIRST, {9: ("game", [])})
    assert [one.used_gib for one in GpuProcesses(proc=proc).identify_processes(told((9, GIB), (9, GIB)))] == [1.0]


def test_in_a_container_a_pid_counts_only_when_that_process_holds_a_gpu(tmp_path):
    proc = machine(tmp_path, OTHER, {7: ("python3", ["/dev/nvidia0"]), 8: ("sh", ["/dev/null"])})
    found = GpuProcesses(lambda _: "big", proc).identify_processes(told((7, GIB), (8, GIB), (4242, GIB)))
    assert [(one.pid, one.engine, one.name) for one in found] == [
        (7, "big", "python3"), (8, "", OUTSIDE), (4242, "", OUTSIDE),
    ]  # fmt: skip


def test_where_the_namespace_cannot_be_told_nothing_is_taken_on_trust(tmp_path):
    (tmp_path / "7").mkdir()
    assert GpuProcesses(proc=tmp_path).identify_processes(told((7, GIB)))[0].name == OUTSIDE


def test_a_hostile_name_is_tamed(tmp_path):
    proc = machine(tmp_path, FIRST, {7: ("\x1b[31mred\u202e" + "x" * 99, [])})
    (found,) = GpuProcesses(proc=proc).identify_processes(told((7, GIB)))
    assert found.name.startswith("redx")
    assert len(found.name) == 40


def test_a_process_that_has_just_gone_is_not_here(tmp_path):
    proc = machine(tmp_path, FIRST, {})
    assert GpuProcesses(proc=proc).identify_processes(told((7, GIB)))[0].name == OUTSIDE
