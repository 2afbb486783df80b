"""Copies between the host and devices: layouts, element types, and when they are finished."""

import pytest
import torch
from torch.testing import assert_close

import tessiq

DTYPES = [torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.int8, torch.uint8, torch.bool]


def layouts(x):
    """The same values under other strides."""
    yield "packed", x
    yield "transposed", x.t().contiguous().t()
    wide = torch.zeros(x.shape[0], 2 * x.shape[1], dtype=x.dtype)
    wide[:, ::2] = x
    yield "stepped", wide[:, ::2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversion_equals_the_hosts(device, fallback, dtype):
    x = torch.tensor([[0.0, 1.5, 2.5], [100.0, 0.25, 3.0]])
    for name, source in layouts(x):
        there = source.to(device)
        assert_close(there.cpu(), x, msg=name)
        assert_close(there.to(dtype).cpu(), x.to(dtype), msg=name)
        assert_close(source.to(dtype).to(device).float().cpu(), x.to(dtype).float(), msg=name)


def test_every_pair_of_layouts_copies_its_values(device, fallback):
    x = torch.arange(12.0).reshape(3, 4)
    for from_name, source in layouts(x):
        for to_name, target in layouts(torch.zeros(3, 4)):
            on_device = target.to(device, copy=True)
            if to_name == "stepped":
                on_device = torch.zeros(3, 8, device=device)[:, ::2]
            on_device.copy_(source)
            assert_close(on_device.cpu(), x, msg=f"{from_name} to {to_name}, upward")
            back = target.clone() if to_name != "stepped" else torch.zeros(3, 8)[:, ::2]
            back.copy_(source.to(device))
            assert_close(back, x, msg=f"{from_name} to {to_name}, downward")
            on_device.zero_()
            on_device.copy_(source.to(device))
            assert_close(on_device.cpu(), x, msg=f"{from_name} to {to_name}, on the device")


def test_write_to_a_stepped_view_leaves_its_gaps_alone(device, fallback):
    base = torch.full((4, 6), -1.0, device=device)
    base[:, 1::3] = torch.ones(4, 2)
    want = torch.full((4, 6), -1.0)
    want[:, 1::3] = 1
    assert_close(base.cpu(), want)


def test_packed_copy_is_one_transfer_of_its_own_bytes(device):
    x = torch.arange(100.0)
    tessiq._C.reset_transfer_counts()
    d = x.to(device)
    d.cpu()
    counts = tessiq._C.transfer_counts()
    assert counts["to_device"] == 400
    assert counts["to_host"] == 400
    assert counts["lent_copies"] == 0


def test_broadcast_source(device, fallback):
    d = torch.zeros(3, 4, device=device)
    d.copy_(torch.arange(4.0))
    assert_close(d.cpu(), torch.arange(4.0).expand(3, 4))


def test_empty_and_zero_dimensional_copies(device, fallback):
    assert torch.empty(0, 3).to(device).cpu().shape == (0, 3)
    assert torch.tensor(2.5).to(device).item() == 2.5
    assert torch.tensor(True, device=device).item() is True


def test_shapes_that_do_not_broadcast_are_refused(device, fallback):
    with pytest.raises(RuntimeError, match=r"expand|match|broadcast"):
        torch.zeros(3, device=device).copy_(torch.zeros(4))


def test_copy_to_another_device_keeps_values_and_leaves_the_current_device(device, fallback):
    x = torch.arange(6.0).reshape(2, 3)
    for index in range(tessiq.device_count()):
        moved = x.to(device).t().to(f"tessiq:{index}")
        assert moved.device.index == index
        assert_close(moved.cpu(), x.t())
        assert tessiq._C.current_device() == device.index


def test_clone_and_contiguous_pack(device, fallback):
    x = torch.arange(12.0).reshape(3, 4)
    d = x.to(device).t()
    assert d.contiguous().is_contiguous()
    assert_close(d.contiguous().cpu(), x.t().contiguous())
    copy = d.clone()
    copy.zero_()
    assert_close(d.cpu(), x.t())


def test_channels_last_survives_the_way_there_and_back(device, fallback):
    x = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last)
    d = x.to(device)
    assert d.is_contiguous(memory_format=torch.channels_last)
    assert d.cpu().is_contiguous(memory_format=torch.channels_last)
    assert_close(d.cpu(), x)


def test_blocking_download_is_complete_when_it_returns(device, fallback):
    source = torch.arange(60000.0, device=device).reshape(6, 10000) + 0
    for target in (torch.zeros(6, 10000), torch.zeros(10000, 6).t(), torch.zeros(6, 10000).pin_memory()):
        target.copy_(source)
        assert_close(target, torch.arange(60000.0).reshape(6, 10000))
