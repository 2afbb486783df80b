"""A profile records the calls it should and no others, and its times add up."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

import tessiq
from tessiq.compile.graph import Observer
from tessiq.profiling import Profile, Region

Call = Callable[..., torch.Tensor]


def by_kind(p: Profile, kind: str) -> list[Region]:
    return [one for one in p.regions if one.kind == kind]


def test_every_kind_of_event_is_recorded_under_its_name(mixed: Call) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    (call,) = p.calls
    assert call.name == "inference"
    assert [one.operation for one in by_kind(p, "kernel")] == ["matmul", "loop"]
    loop = by_kind(p, "kernel")[1]
    assert loop.covers == ("relu", "mul", "tanh")
    assert loop.name == "tanh"
    (sort,) = by_kind(p, "interpreted")
    assert sort.operation == "aten.sort.default"
    assert {one.parent for one in p.events} == {call.index}


def test_kernels_have_the_names_that_explain_gives_them(device: torch.device, fresh_compiles: None) -> None:
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Softmax(-1)).requires_grad_(False), torch.randn(4, 8)
    report = tessiq.explain(model, x, options={"device": device})
    compiled = torch.compile(model, backend="tessiq", options={"device": device})
    compiled(x)
    with tessiq.profile() as p:
        compiled(x)
    (graph,) = report.graphs
    assert {one.name for one in by_kind(p, "kernel")} == {one.name for one in graph.kernels}
    covers = {one.name: one.covers for one in graph.kernels if one.kind == "fused"}
    assert covers.items() <= {one.name: one.covers for one in by_kind(p, "kernel")}.items()


@pytest.mark.parametrize("by", ["name", "kind"])
def test_totals_add_up_to_the_calls(mixed: Call, by: str) -> None:
    with tessiq.profile() as p:
        for _ in range(5):
            mixed(torch.randn(32, 64))
    assert len(p.calls) == 5
    assert sum(one.host_exclusive_us for one in p.totals(by)) == pytest.approx(p.host_us, rel=1e-6)
    assert p.totals(by)[-1].kind == "executor"
    assert p.totals(by)[-1].count == 5


def test_regions_add_up_to_the_call_by_a_clock_around_it(
    device: torch.device, fresh_compiles: None, seen: Observer
) -> None:
    # Long enough on a GPU, where only launches count, for Python's own microsecond around the call to be below 1 %.
    layers = [nn.Sequential(nn.Linear(128, 128), nn.GELU()) for _ in range(48)]
    model = nn.Sequential(*layers).to(device).requires_grad_(False)
    x = torch.randn(128, 128, device=device)
    torch.compile(model, backend="tessiq")(x)
    (graph,) = seen.graphs
    arguments = [*model.parameters()]
    order = [*arguments[:2], x, *arguments[2:]]
    graph(list(order))
    differences = []
    for _ in range(10):
        given: list[object] = list(order)
        with tessiq.profile() as p:
            start = time.perf_counter_ns()
            graph(given)
            around = (time.perf_counter_ns() - start) / 1000
        summed = sum(one.host_exclusive_us for one in p.regions)
        assert len(p.events) == 2 * 48
        differences.append(abs(around - summed) / around)
    # The least, since something else may run between the two readings of a clock.
    assert min(differences) < 0.01


def test_transfers_of_a_call_on_host_tensors_have_their_bytes(mixed: Call) -> None:
    with tessiq.profile() as p:
        result = mixed(torch.randn(32, 64))
    to_device, to_host = by_kind(p, "transfer")
    assert (to_device.operation, to_device.bytes) == ("to device", 32 * 64 * 4)
    # The sort runs on the host, so it is what was sorted that came back.
    assert (to_host.operation, to_host.bytes) == ("to host", result.numel() * 4)


def test_weights_kept_on_the_device_are_no_transfers(device: torch.device, fresh_compiles: None) -> None:
    model = nn.Linear(16, 16).requires_grad_(False)
    compiled = torch.compile(model, backend="tessiq", options={"device": device})
    x = torch.randn(4, 16)
    with tessiq.profile() as first:
        compiled(x)
    with tessiq.profile() as second:
        compiled(x)
    assert sorted(one.bytes for one in by_kind(first, "transfer")) == [64, 256, 256, 1024]
    assert sorted(one.bytes for one in by_kind(second, "transfer")) == [256, 256]


def test_a_transfer_inside_an_interpreted_node_is_counted_once(on_device: Call, through_the_cpu: None) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    with tessiq.profile() as p, torch.no_grad():
        on_device(x)
    (call,) = p.calls
    (sort,) = by_kind(p, "interpreted")
    inside = by_kind(p, "transfer")
    assert {one.parent for one in inside} == {sort.index}
    # PyTorch writes the results of a sort into tensors that are given, so those come down too.
    values, indices = 32 * 64 * 4, 32 * 64 * 8
    assert [one.bytes for one in inside if one.operation == "to host"] == [values, values, indices]
    assert [one.bytes for one in inside if one.operation == "to device"] == [values, indices]
    assert sort.host_exclusive_us == pytest.approx(sort.host_us - sum(one.host_us for one in inside))
    assert sum(one.host_exclusive_us for one in p.regions) == pytest.approx(call.host_us)


def test_nothing_crosses_and_no_transfer_is_recorded(on_device: Call) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    with tessiq.profile() as p, torch.no_grad():
        on_device(x)
    assert p.events
    assert by_kind(p, "transfer") == []


def test_a_backward_pass_is_in_the_profile_of_its_caller(on_device: Call) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    with tessiq.profile() as p:
        on_device(x).sum().backward()
    assert [one.name for one in p.calls] == ["forward", "backward"]
    forward, backward = p.calls
    assert forward.graph != backward.graph
    # Autograd runs the backward pass of a device in a thread of the device's.
    assert forward.thread != backward.thread
    assert backward.host_start_us >= forward.host_start_us + forward.host_us


def test_other_threads_are_not_recorded_and_may_have_profiles_of_their_own(mixed: Call) -> None:
    started, done = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def work(calls: int, records: bool) -> int:
        torch.set_grad_enabled(False)
        if not records:
            started.wait()
            mixed(torch.randn(32, 64))
            done.wait()
            return 0
        with tessiq.profile() as p:
            started.wait()
            for _ in range(calls):
                mixed(torch.randn(32, 64))
            done.wait()
        assert len({one.thread for one in p.regions}) == 1
        return len(p.calls)

    for records in (False, True):
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(work, 3, True), pool.submit(work, 5, records)
            assert first.result(timeout=120) == 3
            assert second.result(timeout=120) == (5 if records else 0)


def test_nothing_is_recorded_where_no_profile_is(mixed: Call) -> None:
    with tessiq.profile() as p:
        pass
    mixed(torch.randn(32, 64))
    assert p.regions == ()
    assert not tessiq._C.is_recording()


def test_profiles_in_a_profile_are_refused_and_the_outer_one_goes_on(mixed: Call) -> None:
    with tessiq.profile() as outer:
        with pytest.raises(RuntimeError, match=r"in this thread already.*end the outer"), tessiq.profile():
            pytest.fail("entered")
        mixed(torch.randn(32, 64))
    assert len(outer.calls) == 1


def test_a_profile_records_once(mixed: Call) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    with pytest.raises(RuntimeError, match="has recorded already: make another"), p:
        pytest.fail("entered")
    assert len(p.calls) == 1


def test_reading_a_profile_while_it_records_says_when_to(mixed: Call) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
        assert "recording" in str(p)
        for read in (lambda: p.events, lambda: p.wall_us, lambda: p.totals()):
            with pytest.raises(RuntimeError, match="before its `with` block has ended"):
                read()


def test_an_exception_in_the_block_ends_the_profile(mixed: Call) -> None:
    def calls_and_fails(p: Profile) -> None:
        with p:
            mixed(torch.randn(32, 64))
            raise KeyError("the user's own")

    p = tessiq.profile()
    with pytest.raises(KeyError):
        calls_and_fails(p)
    assert len(p.calls) == 1
    assert not tessiq._C.is_recording()
    with tessiq.profile() as after:
        mixed(torch.randn(32, 64))
    assert len(after.calls) == 1


def test_an_exception_in_a_call_marks_what_it_left(device: torch.device, fresh_compiles: None) -> None:
    def picks(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.index_select(x * 2, 0, index).cumsum(0)

    compiled = torch.compile(picks, backend="tessiq", options={"device": device, "interpret": True})
    x = torch.randn(4, 4)
    compiled(x, torch.tensor([0, 1]))
    with tessiq.profile() as p:
        with pytest.raises((RuntimeError, IndexError)):
            compiled(x, torch.tensor([0, 9]))
        compiled(x, torch.tensor([1, 0]))
    failed, good = p.calls
    assert (failed.failed, good.failed) == (True, False)
    left = [one for one in p.events if one.failed]
    assert [one.operation for one in left] == ["aten.index_select.default"]
    assert sum(one.host_exclusive_us for one in p.regions) == pytest.approx(p.host_us)


def test_device_times_are_read_at_the_end_and_are_exclusive(on_device: Call, through_the_cpu: None) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    with tessiq.profile(device_time=True) as p, torch.no_grad():
        on_device(x)
    (call,) = p.calls
    assert call.device_us is not None
    times = [one.device_exclusive_us for one in p.regions]
    assert all(one is not None and one >= 0 for one in times)
    assert sum(one for one in times if one is not None) == pytest.approx(call.device_us, rel=1e-3)
    assert p.totals("kind")[-1].device_exclusive_us is not None


def test_device_times_are_off_unless_asked_for(mixed: Call) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    assert {one.device_us for one in p.regions} == {None}


def test_a_profile_outlives_what_it_profiled(device: torch.device, fresh_compiles: None) -> None:
    def profiled() -> Profile:
        compiled = torch.compile(lambda x: torch.tanh(x) + 1, backend="tessiq", options={"device": device})
        with tessiq.profile() as p:
            compiled(torch.ones(3))
        return p

    p = profiled()
    torch._dynamo.reset()
    assert [one.operation for one in p.events] == ["to device", "loop", "to host"]


def test_nvtx_ranges_change_nothing_that_is_recorded(mixed: Call) -> None:
    with tessiq.profile() as plain:
        mixed(torch.randn(32, 64))
    with tessiq.profile(nvtx=True) as p:
        mixed(torch.randn(32, 64))
    assert [one.operation for one in p.regions] == [one.operation for one in plain.regions]


def test_nvtx_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object, **__: object) -> None:
        raise LookupError("libnvtx3interop.so.1 could not be loaded")

    monkeypatch.setattr(tessiq._C, "start_recorder", absent)
    with (
        pytest.raises(RuntimeError, match=r"libnvtx3interop.*install the package nvidia-nvtx"),
        tessiq.profile(nvtx=True),
    ):
        pytest.fail("entered")


def test_the_table_has_a_row_for_each_name_and_the_sum(mixed: Call) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    text = str(p)
    for word in ("host us", "tanh", "aten.sort.default", "in no event", "100.0%", "8.0 KiB"):
        assert word in text
    assert "device us" not in text
    with tessiq.profile(device_time=True) as timed:
        mixed(torch.randn(32, 64))
    assert "device us" in str(timed)


def test_rows_beyond_the_limit_are_summed(mixed: Call, capsys: pytest.CaptureFixture[str]) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    p.show(rows=2)
    out = capsys.readouterr().out
    assert f"{len(p.totals()) - 3} more" in out
    p.show(by="kind")
    assert "interpreted" in capsys.readouterr().out


def test_a_profile_of_nothing_has_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with tessiq.profile() as p:
        pass
    p.show()
    assert "0 compiled calls" in capsys.readouterr().out


def test_the_cost_of_a_profile_is_measured_by_calls_with_and_without(mixed: Call) -> None:
    cost = tessiq.profile_cost(mixed, torch.randn(32, 64), rounds=2)
    # The call, two kernels, the sort and one copy back: a tensor that comes again is kept on the device.
    assert cost.regions == 5
    assert cost.plain_us > 0
    assert cost.profiled_us == pytest.approx(cost.plain_us + cost.regions * cost.region_us)
    assert "host clock, medians of 20 calls" in str(cost)


def test_the_cost_of_profiling_what_is_not_compiled_is_refused() -> None:
    with pytest.raises(ValueError, match="no compiled call ran"):
        tessiq.profile_cost(torch.sin, torch.randn(3), rounds=2)
    with pytest.raises(ValueError, match="rounds=0"):
        tessiq.profile_cost(torch.sin, torch.randn(3), rounds=0)
