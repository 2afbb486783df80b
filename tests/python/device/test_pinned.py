"""Page-locked host memory."""

import pytest
import torch
from torch.testing import assert_close


def test_pinned_tensor_says_so_and_an_ordinary_one_does_not(device):
    x = torch.arange(10.0)
    assert not x.is_pinned()
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned[3:].is_pinned()
    assert pinned.device.type == "cpu"
    assert_close(pinned, x)


def test_allocation_may_ask_for_pinned_memory(device):
    # PyTorch calls nothing pinned before the accelerator has been used, and takes CUDA's allocator where there is CUDA.
    torch.ones(1).pin_memory()
    assert torch.empty(8, pin_memory=True).is_pinned()
    assert torch.empty(0, pin_memory=True).numel() == 0


def test_device_tensor_cannot_be_pinned(device):
    with pytest.raises(RuntimeError, match="pin"):
        torch.ones(2, device=device).pin_memory()


def test_sources_freed_during_asynchronous_copies_are_not_overwritten(device):
    size, copies = 1 << 18, []
    for i in range(12):
        source = torch.full((size,), float(i)).pin_memory()
        copies.append(source.to(device, non_blocking=True))
        del source
        torch.full((size,), -1.0).pin_memory()
    back = [(copy * 2).to("cpu", non_blocking=True) for copy in copies]
    torch.accelerator.synchronize(device)
    for i, (there, here) in enumerate(zip(copies, back, strict=True)):
        assert there.cpu().eq(float(i)).all()
        assert here.eq(2.0 * i).all()


def test_data_loader_pins_its_batches(device):
    data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2))
    for (batch,) in torch.utils.data.DataLoader(data, batch_size=3, pin_memory=True):
        assert batch.is_pinned()
        assert batch.to(device, non_blocking=True).device == device
