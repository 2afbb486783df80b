"""Streams and events."""

import pytest
import torch
from torch.testing import assert_close


def test_default_stream_is_current_and_has_a_resolved_index(device):
    for stream in (torch.tessiq.current_stream(), torch.accelerator.current_stream(), torch.tessiq.default_stream()):
        assert stream.device == device
        assert stream.stream_id == 0
    assert torch.tessiq.current_stream() == torch.tessiq.default_stream(device)


def test_classes_are_pytorchs_own(device):
    assert isinstance(torch.tessiq.Stream(device), torch.Stream)
    assert isinstance(torch.tessiq.Event(), torch.Event)
    assert isinstance(torch.tessiq.current_stream(), torch.tessiq.Stream)


def test_pool_streams_differ_and_compute(device, fallback):
    first, second = torch.Stream(device=device), torch.tessiq.Stream(device, priority=-1)
    assert first.device == second.device == device
    x = torch.arange(1000.0, device=device)
    first.wait_stream(torch.accelerator.current_stream())
    with torch.tessiq.stream(first):
        assert torch.accelerator.current_stream() == first
        y = x * 2
        done = first.record_event()
    second.wait_event(done)
    with torch.tessiq.stream(second):
        z = y + 1
    second.synchronize()
    assert_close(z.cpu(), torch.arange(1000.0) * 2 + 1)
    assert torch.accelerator.current_stream().stream_id == 0


def test_stream_as_a_context(device, fallback):
    stream = torch.Stream(device=device)
    with stream:
        assert torch.accelerator.current_stream() == stream
        x = torch.ones(10, device=device) + 1
    stream.synchronize()
    assert stream.query()
    assert x.sum().item() == 20


def test_event_is_done_after_synchronize(device):
    event = torch.Event(device=device)
    assert event.query()
    torch.ones(100, device=device).add_(1)
    event.record()
    event.synchronize()
    assert event.query()


def test_elapsed_time_is_measured_between_timed_events(device):
    start, end = (torch.Event(device=device, enable_timing=True) for _ in range(2))
    start.record()
    torch.randn(200, 200, device=device) @ torch.randn(200, 200, device=device)
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0


def test_elapsed_time_without_timing_is_refused(device):
    start, end = torch.Event(device=device), torch.Event(device=device)
    start.record()
    end.record()
    with pytest.raises((RuntimeError, ValueError)):
        start.elapsed_time(end)


def test_elapsed_time_of_events_never_recorded_is_refused(device):
    with pytest.raises((RuntimeError, ValueError)):
        torch.Event(device=device, enable_timing=True).elapsed_time(torch.Event(device=device, enable_timing=True))


def test_memory_used_on_another_stream_is_held_back(device):
    other = torch.Stream(device=device)
    x = torch.ones(1 << 16, device=device)
    x.record_stream(other)
    other.wait_stream(torch.tessiq.current_stream(device))
    with torch.tessiq.stream(other):
        y = x * 3
    del x
    refill = torch.zeros(1 << 16, device=device)
    other.synchronize()
    assert y.eq(3).all().item()
    assert refill.eq(0).all().item()


def test_borrowed_results_can_be_recorded_on_streams(device, fallback):
    x = torch.sort(torch.arange(10.0, device=device)).values
    x.record_stream(torch.Stream(device=device))
    assert_close(x.cpu(), torch.arange(10.0))


def test_setting_a_stream_and_nothing(device):
    stream = torch.tessiq.Stream(device)
    torch.tessiq.set_stream(stream)
    assert torch.tessiq.current_stream() == stream
    torch.tessiq.set_stream(torch.tessiq.default_stream(device))
    with torch.tessiq.stream(None):
        assert torch.tessiq.current_stream().stream_id == 0


def test_synchronize_by_accelerator_and_module(device):
    torch.accelerator.synchronize(device)
    torch.tessiq.synchronize()
    torch.tessiq.synchronize(device)
