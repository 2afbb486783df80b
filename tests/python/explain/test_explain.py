"""The report says what the compiler did, from the compiler's own objects, and leaves the caller's state as it was."""

from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import nn

import tessiq
from tessiq.explain.report import REPORT_VERSION, Report


@pytest.fixture(autouse=True)
def fresh_compiles() -> None:
    torch._dynamo.reset()


class Chain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(8, 8))

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.sigmoid(torch.relu(a + self.w)) @ self.w)


def explain_chain(device: torch.device) -> Report:
    with torch.no_grad():
        return tessiq.explain(Chain(), torch.randn(8, 8), options={"device": device})


def test_every_operation_is_listed_with_its_fate_and_kernel(device: torch.device) -> None:
    report = explain_chain(device)
    (graph,) = report.graphs
    assert [(one.op, one.fate) for one in graph.operations] == [
        ("aten.add.Tensor", "fused"),
        ("aten.relu.default", "fused"),
        ("aten.sigmoid.default", "launched"),
        ("aten.mm.default", "library"),
        ("aten.tanh.default", "launched"),
    ]
    add, relu, sigmoid, mm, tanh = graph.operations
    assert add.kernel == relu.kernel == sigmoid.node
    assert add.moves_inputs
    assert not tanh.moves_inputs
    assert all(one.location.startswith("test_explain.py:") for one in graph.operations)
    assert [(kernel.kind, kernel.covers) for kernel in graph.kernels] == [
        ("fused", (add.node, relu.node, sigmoid.node)),
        ("fused", (tanh.node,)),
        ("library", (mm.node,)),
    ]
    assert sigmoid.node in graph.kernels[2].reads


def test_totals_count_the_schedule(device: torch.device) -> None:
    totals = explain_chain(device).totals
    assert (totals.operations, totals.computing, totals.claimed) == (5, 5, 5)
    assert (totals.kernels, totals.library_calls, totals.views) == (2, 1, 0)
    assert totals.claimed_share == 1


def test_weights_cross_in_the_first_call_only(device: torch.device) -> None:
    report = explain_chain(device)
    assert report.first_call.to_device == 2
    assert report.first_call.bytes_to_device == 2 * 8 * 8 * 4
    assert report.later_call.to_device == 1
    assert report.later_call.to_host == 1


def test_text_has_every_section_and_the_users_line(device: torch.device) -> None:
    text = str(explain_chain(device))
    for title in ("summary", "imported graph", "passes", "kernels", "schedule", "program"):
        assert any(line.startswith("== ") and title in line for line in text.splitlines()), title
    assert "(moves its inputs)" in text
    assert "inside kernel %sigmoid" in text
    assert "test_explain.py:" in text
    assert "+" in text  # what the passes wrote


def test_source_is_printed_only_when_asked_for(device: torch.device) -> None:
    report = explain_chain(device)
    source = report.graphs[0].kernels[0].source.strip()
    assert source
    assert source not in report.text()
    assert source in report.text(source=True)


def test_terminal_face_has_the_same_facts(device: torch.device, capsys: pytest.CaptureFixture[str]) -> None:
    explain_chain(device).show()
    shown = capsys.readouterr().out
    assert "aten.sigmoid.default" in shown
    assert "schedule" in shown


def test_unclaimed_operations_are_counted_by_reason(device: torch.device) -> None:
    report = tessiq.explain(
        lambda x: torch.cumsum(torch.cumsum(x + 1, 0), 1), torch.randn(4, 4), options={"device": device}
    )
    ((op, reason), count), *rest = report.unclaimed().items()
    assert (op, count, rest) == ("aten.cumsum.default", 2, [])
    assert reason != "unexplained"
    assert report.totals.claimed < report.totals.computing


def test_backward_graph_is_reported_and_gradients_stay_untouched(device: torch.device) -> None:
    model = Chain()
    report = tessiq.explain(model, torch.randn(8, 8), options={"device": device}, backward=True)
    assert [graph.direction for graph in report.graphs] == ["forward", "backward"]
    assert report.graphs[1].operations
    assert model.w.grad is None


def test_backward_of_something_without_gradients_is_refused() -> None:
    with pytest.raises(ValueError, match="no output of the model needs a gradient"):
        tessiq.explain(lambda x: x + 1, torch.ones(2), backward=True)


def test_unknown_option_is_refused_before_anything_runs() -> None:
    ran = []
    with pytest.raises(ValueError, match="unknown option 'devise'"):
        tessiq.explain(ran.append, torch.ones(2), options={"devise": tessiq.cpu})
    assert not ran


def test_graph_breaks_give_several_graphs_and_a_reason() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return y + 1

    report = tessiq.explain(function, torch.ones(3))
    assert len(report.graphs) == 2
    assert len(report.breaks) == 1
    assert "graph break" in str(report)


def test_uncompiled_graph_is_reported_with_its_reason() -> None:
    report = tessiq.explain(lambda x: x * 2, torch.ones(3, dtype=torch.complex64))
    assert not report.graphs
    (one,) = report.uncompiled
    assert one.operations == 1
    assert "complex64" in one.reason
    assert "complex64" in str(report)
    assert report.totals.claimed == 0


def test_compiled_model_is_explained_with_its_own_options_and_stays_compiled() -> None:
    model = Chain()
    compiled = torch.compile(model, backend="tessiq", options={"interpret": True})
    x = torch.randn(8, 8)
    with torch.no_grad():
        compiled(x)
        before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        report = tessiq.explain(compiled, x)
        explained = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        compiled(x)
    assert report.totals.kernels == 0
    assert explained > before
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == explained


def test_explaining_many_times_never_stops_compiling() -> None:
    for _ in range(12):
        assert len(tessiq.explain(shifted, torch.ones(3)).graphs) == 1


def shifted(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) + 1


def test_buffers_and_random_state_are_put_back() -> None:
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5)).train()
    x = torch.randn(8, 4)
    state = torch.get_rng_state()
    tessiq.explain(model, x)
    assert int(model[0].num_batches_tracked) == 0
    assert torch.equal(model[0].running_mean, torch.zeros(4))
    assert torch.equal(torch.get_rng_state(), state)


def test_report_is_versioned_and_frozen() -> None:
    report = tessiq.explain(shifted, torch.ones(3))
    assert report.version == REPORT_VERSION
    with pytest.raises(FrozenInstanceError):
        report.version = 2  # type: ignore[misc]


def test_same_model_gives_the_same_text_but_for_times() -> None:
    def facts(report: Report) -> list[object]:
        return [(graph.operations, graph.kernels, graph.program, graph.final_ir) for graph in report.graphs]

    assert facts(tessiq.explain(shifted, torch.ones(3))) == facts(tessiq.explain(shifted, torch.ones(3)))
