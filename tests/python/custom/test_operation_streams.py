"""A kernel goes to the caller's stream and to no other: it is in the graph that the stream records, or it is not."""

import ctypes
from collections.abc import Callable

import pytest
import torch

import tessiq

OPS = torch.ops.tessiq
RELAXED = 2  # cudaStreamCaptureModeRelaxed: the allocator may still ask the driver for memory

pytestmark = pytest.mark.gpu


class Recording:
    """What one stream was given to do, to be done again. CUDA's own calls, since tessiq has no interface for it yet."""

    def __init__(self, stream: torch.Stream, work: Callable[[], torch.Tensor]) -> None:
        self._cuda = ctypes.CDLL("libcudart.so.13")
        self._stream = ctypes.c_void_p(stream.native_handle)
        graph, self._executable = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._cuda.cudaStreamBeginCapture(self._stream, RELAXED))
        with stream:
            self.result = work()
        self._check(self._cuda.cudaStreamEndCapture(self._stream, ctypes.byref(graph)))
        self._check(self._cuda.cudaGraphInstantiate(ctypes.byref(self._executable), graph, ctypes.c_ulonglong(0)))

    def replay(self) -> None:
        self._check(self._cuda.cudaGraphLaunch(self._executable, self._stream))
        self._check(self._cuda.cudaStreamSynchronize(self._stream))

    @staticmethod
    def _check(status: int) -> None:
        assert status == 0, f"CUDA error {status}"


def _work(name: str, device: torch.device) -> Callable[[], torch.Tensor]:
    x, weight = torch.randn(64, 32, device=device), torch.randn(32, device=device)
    works: dict[str, Callable[[], torch.Tensor]] = {
        "rms_norm": lambda: OPS.rms_norm(x, weight),
        "scale_shift": lambda: OPS.scale_shift(x),
        "top_two": lambda: OPS.top_two(x)[0],
        "replaced_log_softmax": lambda: OPS.replaced_log_softmax(x, -1, False),
    }
    return works[name]


@pytest.mark.parametrize("name", ["rms_norm", "scale_shift", "top_two", "replaced_log_softmax"])
def test_a_recorded_kernel_writes_its_result_again(good_operations: None, name: str) -> None:
    if tessiq.device_count() < 2:
        pytest.skip(f"no GPU: {tessiq._C.discovery_note()}")
    device = torch.device("tessiq", 1)
    work = _work(name, device)
    wanted = work().cpu()
    stream = torch.Stream(device)
    with stream:
        work()  # the allocator has memory of this stream to give before it is captured
    torch.accelerator.synchronize()
    recording = Recording(stream, work)
    recording.result.fill_(float("nan"))
    torch.accelerator.synchronize()
    assert recording.result.isnan().all()
    recording.replay()
    torch.testing.assert_close(recording.result.cpu(), wanted)


@pytest.mark.parametrize("name", ["rms_norm", "scale_shift", "replaced_log_softmax"])
def test_a_compiled_call_launches_on_the_callers_stream(good_operations: None, fresh_compiles: None, name: str) -> None:
    if tessiq.device_count() < 2:
        pytest.skip(f"no GPU: {tessiq._C.discovery_note()}")
    device = torch.device("tessiq", 1)
    x, weight = torch.randn(64, 32, device=device), torch.randn(32, device=device)
    functions: dict[str, Callable[[], torch.Tensor]] = {
        "rms_norm": lambda: OPS.rms_norm(x, weight),
        "scale_shift": lambda: OPS.scale_shift(x),
        "replaced_log_softmax": lambda: torch.log_softmax(x, -1),
    }
    compiled = torch.compile(functions[name], backend="tessiq")
    wanted = compiled().cpu()
    stream = torch.Stream(device)
    with stream:
        compiled()
    torch.accelerator.synchronize()
    recording = Recording(stream, compiled)
    recording.result.fill_(float("nan"))
    torch.accelerator.synchronize()
    recording.replay()
    torch.testing.assert_close(recording.result.cpu(), wanted)
