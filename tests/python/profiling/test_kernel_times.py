"""Each kernel of a call is timed where the call launches it, by clocks that say their names."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from torch import nn
from torch._C._autograd import DeviceType

import tessiq
from tessiq.profiling.kernel_execution import executions

Call = Callable[..., torch.Tensor]


def test_every_kernel_is_timed_and_the_names_are_explains(device: torch.device, fresh_compiles: None) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Softmax(-1)).requires_grad_(False)
    x = torch.randn(32, 64)
    report = tessiq.explain(model, x, options={"device": device})
    times = tessiq.time_kernels(torch.compile(model, backend="tessiq", options={"device": device}), x, launches=10)
    assert {one.name for one in times.rows} == {kernel.name for kernel in report.graphs[0].kernels}
    assert all(one.back_to_back_us > 0 and one.launches == 10 for one in times.rows)
    assert times.back_to_back_us == pytest.approx(sum(one.back_to_back_us for one in times.rows))


def test_launches_happen_as_often_as_is_said(device: torch.device, fresh_compiles: None) -> None:
    compiled = torch.compile(lambda x: torch.tanh(x) + 1, backend="tessiq")
    x = torch.randn(100, device=device)
    compiled(x)
    name = "host_launches" if tessiq._C.device_kind(device.index) == "host" else "cuda_launches"
    before = tessiq._C.kernel_counters()[name]
    tessiq.time_kernels(compiled, x, launches=30, kernel_execution=False)
    # Two calls to warm up; then the call's own, one to warm up, and thirty.
    assert tessiq._C.kernel_counters()[name] - before == 2 + 1 + 1 + 30


def test_a_kernel_that_does_more_takes_longer(device: torch.device, fresh_compiles: None) -> None:
    def function(small: torch.Tensor, large: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tanh(small), torch.tanh(large)

    inputs = torch.randn(256, device=device), torch.randn(1 << 24, device=device)
    times = tessiq.time_kernels(torch.compile(function, backend="tessiq"), *inputs, launches=5)
    small, large = sorted(times.rows, key=lambda one: one.name)
    assert large.back_to_back_us > 2 * small.back_to_back_us


def test_launching_again_changes_no_result(device: torch.device, fresh_compiles: None) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 16, bias=False))
            self.convolution = nn.Conv1d(4, 4, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.convolution(self.layers(x)), -1)

    model, x = Model().to(device).requires_grad_(False), torch.randn(2, 4, 16, device=device)
    compiled = torch.compile(model, backend="tessiq")
    expected = compiled(x)
    recorder = tessiq._C.start_recorder(device_time=False, nvtx=False, torch_ranges=False, launches=7)
    actual = compiled(x)
    kernels = [one for one in recorder.stop() if one["kind"] == "kernel"]
    assert all(one["back_to_back"] is not None for one in kernels)
    assert {"matmul", "aten.convolution.default", "reduction"} <= {one["operation"] for one in kernels}
    assert torch.equal(actual.cpu(), expected.cpu())


def test_the_backward_pass_is_timed_where_asked_for(on_device: Call) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    before = [parameter.grad.clone() for parameter in on_device.parameters()]
    forward = tessiq.time_kernels(on_device, x, launches=3)
    both = tessiq.time_kernels(on_device, x, launches=3, backward=True)
    assert {one.graph.partition(" ")[0] for one in forward.rows} == {"inference"}
    assert [one.graph for one in both.rows] == sorted((one.graph for one in both.rows), key=lambda name: name[-1])
    assert {one.graph for one in both.rows} == {"forward 0", "backward 1"}
    for parameter, gradient in zip(on_device.parameters(), before, strict=True):
        assert torch.equal(parameter.grad.cpu(), gradient.cpu())


def test_buffers_and_random_states_are_put_back(device: torch.device, fresh_compiles: None) -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout()).to(device)
    compiled = torch.compile(model, backend="tessiq")
    x = torch.randn(4, 8, device=device)
    compiled(x)
    before = [buffer.clone() for buffer in model.buffers()]
    state = torch.tessiq.get_rng_state(device)
    tessiq.time_kernels(compiled, x, launches=3)
    for buffer, value in zip(model.buffers(), before, strict=True):
        assert torch.equal(buffer.cpu(), value.cpu())
    assert torch.equal(torch.tessiq.get_rng_state(device), state)


def test_every_column_of_times_names_its_clock(mixed: Call, capsys: pytest.CaptureFixture[str]) -> None:
    times = tessiq.time_kernels(mixed, torch.randn(32, 64), launches=3, kernel_execution=False)
    text = str(times)
    assert "issue us (host)" in text
    assert "back-to-back us" in text
    assert "kernel execution us" not in text
    times.show()
    assert "back-to-back us" in capsys.readouterr().out


def test_what_cannot_be_timed_is_refused(mixed: Call) -> None:
    with pytest.raises(ValueError, match="no compiled call ran"):
        tessiq.time_kernels(torch.sin, torch.randn(3))
    with pytest.raises(ValueError, match="launches=0"):
        tessiq.time_kernels(mixed, torch.randn(32, 64), launches=0)
    with tessiq.profile(), pytest.raises(RuntimeError, match="end it before kernels are timed"):
        tessiq.time_kernels(mixed, torch.randn(32, 64))
    with pytest.raises(ValueError, match="no output of the model needs a gradient"):
        tessiq.time_kernels(mixed, torch.randn(32, 64), backward=True)


def test_kernel_execution_is_refused_where_there_is_no_gpu(fresh_compiles: None) -> None:
    compiled = torch.compile(lambda x: torch.tanh(x) + 1, backend="tessiq")
    x = torch.randn(8, device="tessiq:0")
    assert tessiq.time_kernels(compiled, x, launches=2).kernel_execution_us is None
    with pytest.raises(ValueError, match="CUPTI records the kernels of NVIDIA GPUs"):
        tessiq.time_kernels(compiled, x, launches=2, kernel_execution=True)


@dataclass(frozen=True)
class Interval:
    start: float


@dataclass(frozen=True)
class Record:
    name: str
    duration: float


@dataclass(frozen=True)
class Function:
    name: str
    time_range: Interval
    device_type: DeviceType = DeviceType.CPU
    kernels: list[Record] = field(default_factory=list)


def test_records_are_read_whatever_type_they_are_labelled_with() -> None:
    product = [Record("Memset (Device)", 1.0), Record("gemm", 5.0), Record("epilogue", 2.0)]
    functions = [
        Function("tessiq kernel mm (matmul)", Interval(20.0), kernels=product),
        Function("tessiq kernel add (loop)", Interval(10.0), kernels=[Record("loop0", 3.0)]),
        Function("tessiq interpreted sort (aten.sort.default)", Interval(15.0), kernels=[Record("radix", 9.0)]),
        Function("loop0", Interval(11.0), DeviceType.PrivateUse1),
    ]
    assert [(one.total_us, one.kernels) for one in executions(functions)] == [(3.0, 1), (7.0, 2)]


def test_regions_are_functions_of_pytorchs_profiler_while_it_runs(mixed: Call) -> None:
    x = torch.randn(32, 64)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as recorded:
        recorder = tessiq._C.start_recorder(device_time=False, nvtx=False, torch_ranges=True, launches=0)
        mixed(x)
        records = recorder.stop()
    assert len(executions(recorded.events())) == sum(one["kind"] == "kernel" for one in records) == 2
    names = {one.name for one in recorded.events()}
    assert "tessiq kernel tanh (loop)" in names


@pytest.mark.gpu
def test_kernel_execution_times_of_a_gpu(fresh_compiles: None) -> None:
    if tessiq.device_count() < 2:
        pytest.skip("no GPU")

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.tanh(x) @ w, -1)

    inputs = torch.randn(4096, 4096, device="tessiq:1"), torch.randn(4096, 4096, device="tessiq:1")
    compiled = torch.compile(function, backend="tessiq")
    # Other processes may share the GPU: the fastest of a few is least theirs.
    several = [tessiq.time_kernels(compiled, *inputs) for _ in range(5)]
    times = min(several, key=lambda one: one.kernel_execution_us or 0)
    assert len(times.rows) == 3
    for one in times.rows:
        assert one.kernels is not None
        assert one.kernels >= 1
        assert one.kernel_execution_us is not None
        # The gap between kernels is in the one and not in the other.
        assert 0 < one.kernel_execution_us <= 1.1 * one.back_to_back_us
    # At this size the kernel is most of what the stream waits for.
    assert times.kernel_execution_us is not None
    assert times.kernel_execution_us > 0.5 * times.back_to_back_us
    assert "kernel execution us" in str(times)
