"""The facts of a report: bytes, what claiming would change, memory, symbols, guards, times, the repro."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from explained_models import Chain, Sandwich

import tessiq
from tessiq import _C
from tessiq.explain.capture import recording
from tessiq.explain.records import DISPATCHED, ClaimEffect
from tessiq.explain.report import Report
from tessiq.explain.wording import effect_text


@pytest.fixture(autouse=True)
def _fresh(fresh_compiles: None) -> None:
    """For every test."""


def chain(device: torch.device) -> Report:
    with torch.no_grad():
        return tessiq.explain(Chain(), torch.randn(8, 8), options={"device": device})


def test_kernels_count_each_tensor_once(device: torch.device) -> None:
    first, last, product = chain(device).graphs[0].kernels
    matrix = 8 * 8 * 4
    assert (first.bytes_read, first.bytes_written) == (2 * matrix, matrix)
    assert (last.bytes_read, last.bytes_written) == (matrix, matrix)
    assert (product.bytes_read, product.operations) == (2 * matrix, 2 * 8**3)


def test_bound_is_bytes_over_the_measured_ceiling(device: torch.device) -> None:
    report = chain(device)
    (ceiling,) = report.ceilings
    assert ceiling.device == str(device)
    assert ceiling.bytes_per_second > 1e8
    first, _, product = report.graphs[0].kernels
    assert first.bound_microseconds == pytest.approx(3 * 256 / ceiling.bytes_per_second * 1e6)
    assert product.bound_microseconds == pytest.approx(
        max(3 * 256 / ceiling.bytes_per_second, 1024 / ceiling.operations_per_second) * 1e6
    )


def test_measuring_counts_no_fallback() -> None:
    tessiq.reset_fallbacks()
    chain(tessiq.cpu)
    assert tessiq.fallbacks() == {}


def test_source_comes_with_the_graphs_names(device: torch.device) -> None:
    kernel = chain(device).graphs[0].kernels[0]
    assert "v_relu" in kernel.body
    assert "v_relu" not in kernel.source
    assert len(kernel.entries) >= 1


def test_claiming_an_operation_between_kernels_saves_both_copies() -> None:
    with torch.no_grad():
        report = tessiq.explain(Sandwich(), torch.randn(16, 4), options={"device": tessiq.cpu})
    (row,) = [one for _, one in report.why_not() if "cummax" in one.op]
    assert row.effect is not None
    assert (row.effect.copies, row.effect.bytes) == (2, 2 * 16 * 4 * 4)
    assert row.effect.neighbours == ("exp", report.graphs[0].kernels[1].name)


def test_claiming_at_the_edge_moves_a_copy() -> None:
    # The argument has to reach the device, whoever reads it there first; the result is read there already.
    with torch.no_grad():
        report = tessiq.explain(lambda a: torch.cumsum(a, 0) + 1, torch.randn(16, 4), options={"device": tessiq.cpu})
    (row,) = [one for _, one in report.why_not()]
    assert row.effect is not None
    assert (row.effect.copies, row.effect.bytes) == (0, 0)


def test_claiming_what_two_read_saves_no_copy_of_its_operand() -> None:
    def function(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        b = torch.exp(a)
        return torch.cumsum(b, 0), torch.cumprod(b, 0)

    with torch.no_grad():
        report = tessiq.explain(function, torch.randn(16, 4), options={"device": tessiq.cpu})
    # Its operand still has to come down for the other, and its result now has to.
    assert [one.effect.copies for _, one in report.why_not() if one.effect] == [-1, -1]


@pytest.mark.parametrize(
    ("copies", "size", "text"),
    [
        (2, 512, "2 copies fewer a call (512 B)"),
        (-1, -512, "1 copy more a call (512 B) unless its neighbours are claimed too"),
        (0, 512, "as many copies, 512 B less to copy"),
        (1, -512, "1 copy fewer a call, 512 B more to copy"),
        (-1, 0, "1 copy more a call, as many bytes"),
        (0, 0, "no copy more or fewer"),
    ],
)
def test_effects_read_as_what_they_are(copies: int, size: int, text: str) -> None:
    assert effect_text(ClaimEffect(copies, size, ("exp",))) == f"{text}; beside %exp"
    assert effect_text(None) == "nothing: no instruction is left of it"


def test_weights_are_no_copy_of_every_call() -> None:
    limits = torch.nn.Parameter(torch.arange(4.0))
    with torch.no_grad():
        report = tessiq.explain(lambda a: torch.relu(torch.bucketize(a, limits).float()), torch.rand(2))
    (one,) = (one for _, one in report.why_not() if one.op == "aten.bucketize.Tensor")
    assert one.effect is not None
    assert one.effect.bytes == 2 * 8 - 2 * 4  # the result's copy saved, the argument's made


def test_every_dispatched_operation_has_a_known_reason() -> None:
    known = dict(_C.claim_reasons())
    with torch.no_grad():
        report = tessiq.explain(Sandwich(), torch.randn(8, 8))
        counting = tessiq.explain(lambda x: torch.cumsum(torch.arange(x.shape[0]), 0) + x, torch.randn(4))
    reasons = [one.reason_id for one in (*report.operations, *counting.operations) if one.fate in DISPATCHED]
    assert reasons
    assert set(reasons) <= known.keys()


def test_arena_holds_buffers_that_do_not_meet(device: torch.device) -> None:
    memory = chain(device).graphs[0].memory
    assert [one.value for one in memory.buffers][:2] == ["sigmoid", "mm"]
    for one in memory.buffers:
        assert 0 <= one.offset <= memory.bytes - one.bytes
        for other in memory.buffers:
            if one is not other and one.first <= other.last and other.first <= one.last:
                assert one.offset + one.bytes <= other.offset or other.offset + other.bytes <= one.offset
    assert memory.peak_bytes <= memory.bytes


def test_symbols_say_where_they_are_read_and_what_made_it_compile_again() -> None:
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend="tessiq")
    with torch.no_grad(), recording() as recorder:
        compiled(torch.ones(4, 3))
        recorder.end_first_call()
        compiled(torch.ones(5, 3))
        compiled(torch.ones(6, 3))
        report = recorder.report()
    assert len(report.graphs) == 2
    symbols = [one for one in report.graphs[1].symbols if one.name]
    assert [(one.source, one.value) for one in symbols] == [("input 0", 5)]
    (again,) = report.recompiles
    assert "size mismatch at index 0. expected 4, actual 5" in again.reason
    assert report.graphs[1].later_calls == 2


def test_guards_name_the_inputs_and_their_sizes() -> None:
    with torch.no_grad():
        report = tessiq.explain(Chain(), torch.randn(8, 8))
    guards = {one.name: one.text for one in report.guards if one.on_values}
    assert guards["a"] == "float32[8, 8] on cpu"


def test_stretches_of_the_first_call_lie_inside_one_another() -> None:
    report = chain(tessiq.cpu)
    whole, *rest = report.spans
    assert whole.milliseconds == pytest.approx(report.first_call_seconds * 1000)
    assert all(one.start + one.milliseconds <= whole.milliseconds * 1.001 + 0.5 for one in rest)
    outer = sum(one.milliseconds for one in rest if one.level == 1)
    assert outer == pytest.approx(whole.milliseconds, rel=0.01)
    names = [one.name for one in rest if one.graph == 0]
    assert names[:4] == ["tessiq", "import", "lookups-first", "mark-supported"]
    assert names[-2:] == ["lowering", "kernels"]


def test_recipe_from_memory_is_told_from_one_that_was_made() -> None:
    model, x = Chain(), torch.randn(8, 8)
    kinds = []
    for _ in range(2):
        torch._dynamo.reset()
        with torch.no_grad(), recording() as recorder:
            torch.compile(model, backend="tessiq")(x)
            kinds.append(recorder.report().graphs[0].recipe)
    assert kinds[1] == "from memory"
    with torch.no_grad():
        assert tessiq.explain(model, x).graphs[0].recipe == "compiled"


@pytest.mark.parametrize("dynamic", [False, True])
def test_repro_runs_by_itself_and_notices_a_wrong_result(tmp_path: Path, dynamic: bool) -> None:
    def function(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1)[index] + x.shape[0]

    with torch.no_grad(), recording() as recorder:
        torch.compile(function, backend="tessiq", dynamic=dynamic)(torch.randn(4, 3).t(), torch.tensor([0, 2, 1]))
        (graph,) = recorder.report().graphs
    script = tmp_path / "repro.py"
    script.write_text(graph.repro)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 results agree with PyTorch\n"
    script.write_text(
        graph.repro.replace("actual = run(", "actual = run(lambda *a: [1 + one for one in graph(*a)]) or run(")
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240)
    assert done.returncode != 0
    assert "result 0:" in done.stderr
