"""That the answer is right does not show where it was computed: these tests read side effects.

A compiled model that quietly ran through PyTorch would pass every comparison. Its counters, its ledger of operators
that fell back and the allocator's statistics would not.
"""

import pytest
import torch
from ways import Way, fates

import tessiq
from tessiq.compile.graph import Observer


def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.tanh(torch.sigmoid(torch.relu(x + w)) @ w)


def launches(device: torch.device) -> int:
    return tessiq._C.kernel_counters()["host_launches" if device.index == 0 else "cuda_launches"]


def test_claimed_operations_ran_as_the_devices_kernels(way: Way, seen: Observer) -> None:
    compiled = way.compile(chain)
    first = [torch.randn(16, 16) for _ in range(2)]
    second = [torch.randn(16, 16) for _ in range(2)]
    compiled(*way.send(first))
    (call,) = seen.graphs
    assert fates(call) == {
        "aten.add.Tensor": "fused",
        "aten.relu.default": "fused",
        "aten.sigmoid.default": "launched",
        "aten.mm.default": "library",
        "aten.tanh.default": "launched",
    }
    sent = way.send(second)
    launched, before = launches(way.device), call.compiled.counters()
    allocated = tessiq._C.memory_stats(way.device.index)["allocation"]["all"]["allocated"]
    tessiq.reset_fallbacks()
    result = compiled(*sent)
    after = call.compiled.counters()
    # Other values than the first call's: memory that still holds its answer would not pass.
    torch.testing.assert_close(result.cpu(), chain(*second), rtol=1e-5, atol=1e-5)
    assert launches(way.device) - launched == 2
    assert after["launches"] - before["launches"] == 2
    assert after["library_calls"] - before["library_calls"] == 1
    for name in ("dispatches_on_device", "dispatches_on_host"):
        assert after[name] == before[name] == 0
    # A block for what stays in the call and one for the result, at the least.
    assert tessiq._C.memory_stats(way.device.index)["allocation"]["all"]["allocated"] - allocated >= 2
    fell_back = {name.removeprefix("aten::").partition(".")[0] for name in tessiq.fallbacks()}
    assert not fell_back & {"add", "relu", "sigmoid", "tanh"}


def test_without_generated_loops_the_same_proof_would_fail(way: Way, seen: Observer) -> None:
    compiled = way.compile(chain, interpret=True)
    launched = launches(way.device)
    inputs = [torch.randn(16, 16) for _ in range(2)]
    torch.testing.assert_close(compiled(*way.send(inputs)).cpu(), chain(*inputs), rtol=1e-5, atol=1e-5)
    (call,) = seen.graphs
    assert launches(way.device) == launched
    assert call.compiled.counters()["launches"] == 0
    assert set(fates(call).values()) <= {"dispatched on device", "dispatched on host"}


def test_tensors_on_the_device_do_not_cross(device: torch.device, seen: Observer) -> None:
    compiled = torch.compile(chain, backend="tessiq")
    compiled(torch.randn(8, 8, device=device), torch.randn(8, 8, device=device))
    counters = seen.graphs[0].compiled.counters()
    assert counters["copies_to_device"] == counters["copies_to_host"] == 0


def test_unchanged_weights_cross_once_and_the_result_each_time(device: torch.device, seen: Observer) -> None:
    model = torch.nn.Linear(32, 16)
    compiled = torch.compile(model, backend="tessiq", options={"device": device})
    with torch.no_grad():
        compiled(torch.randn(4, 32))
        (call,) = seen.graphs
        first = call.compiled.counters()
        compiled(torch.randn(4, 32))
    second = call.compiled.counters()
    assert first["copies_to_device"] == 3
    assert first["bytes_to_device"] == 4 * (4 * 32 + 32 * 16 + 16)
    assert second["copies_to_device"] - first["copies_to_device"] == 1
    assert second["bytes_to_device"] - first["bytes_to_device"] == 4 * 4 * 32
    assert second["copies_to_host"] - first["copies_to_host"] == 1


def test_work_goes_to_the_device_the_options_name(device: torch.device, seen: Observer) -> None:
    torch.compile(lambda x: x * 2 + 1, backend="tessiq", options={"device": device})(torch.ones(3))
    assert seen.graphs[0].compiled.device_index == device.index


def test_tensors_on_a_device_decide_over_the_option(device: torch.device, seen: Observer) -> None:
    compiled = torch.compile(lambda x: x * 2 + 1, backend="tessiq", options={"device": tessiq.cpu})
    assert compiled(torch.ones(3, device=device)).device == device
    assert seen.graphs[0].compiled.device_index == device.index


def test_unclaimed_operation_has_a_reason_and_the_users_line(way: Way, seen: Observer) -> None:
    way.check(lambda x: torch.cumsum(x * 2, 0), torch.randn(5))
    (fate,) = [one for one in seen.graphs[0].compiled.fates() if one["op"] == "aten.cumsum.default"]
    assert fate["fate"].startswith("dispatched")
    reason_id, _, reason = fate["reason"].partition(": ")
    assert reason_id
    assert reason
    assert fate["location"].startswith("test_work_ran_on_the_device.py:")


def test_two_calls_do_not_compile_twice(way: Way, seen: Observer) -> None:
    compiled = way.compile(chain)
    for _ in range(3):
        compiled(*way.send([torch.randn(4, 4), torch.randn(4, 4)]))
    assert len(seen.graphs) == 1
    assert seen.graphs[0].compiled.counters()["calls"] == 3


def test_changed_batch_sizes_share_one_symbolic_graph(way: Way, seen: Observer) -> None:
    compiled = way.compile(lambda x: torch.relu(x * 2) + 1)
    for rows in (3, 5, 9, 12):
        compiled(torch.randn(rows, 4, device=way.home))
    assert len(seen.graphs) == 2
    assert seen.graphs[1].compiled.counters()["calls"] == 3


@pytest.mark.gpu
def test_reference_device_stays_idle_while_a_gpu_works(seen: Observer) -> None:
    before = launches(tessiq.cpu)
    torch.compile(chain, backend="tessiq", options={"device": tessiq.gpu})(torch.randn(4, 4), torch.randn(4, 4))
    assert launches(tessiq.cpu) == before
