"""The allocator as PyTorch shows it."""

import gc

import pytest
import torch

import tessiq


@pytest.fixture(autouse=True)
def clean(device):
    gc.collect()
    torch.tessiq.empty_cache()
    torch.tessiq.reset_peak_memory_stats(device)
    torch.tessiq.reset_accumulated_memory_stats(device)


def test_tensor_freed_and_made_again_is_served_from_the_cache(device):
    before = torch.tessiq.memory_stats(device)
    x = torch.empty(1000, device=device)
    assert torch.tessiq.memory_allocated(device) == before["allocated_bytes.all.current"] + 4096
    del x
    x = torch.empty(1000, device=device)
    after = torch.tessiq.memory_stats(device)
    assert after["num_cache_hits"] == before["num_cache_hits"] + 1
    assert after["allocated_bytes.all.current"] == before["allocated_bytes.all.current"] + 4096
    del x
    assert torch.tessiq.memory_allocated(device) == before["allocated_bytes.all.current"]


def test_accelerator_reads_the_same_numbers(device):
    x = torch.empty(5000, device=device)
    assert torch.accelerator.memory_allocated(device) == torch.tessiq.memory_allocated(device)
    assert torch.accelerator.memory_reserved(device) == torch.tessiq.memory_reserved(device)
    stats = torch.accelerator.memory_stats(device)
    for quantity in ("allocated_bytes", "reserved_bytes", "active_bytes"):
        for pool in ("all", "large_pool", "small_pool"):
            for field in ("current", "peak", "allocated", "freed"):
                key = f"{quantity}.{pool}.{field}"
                assert stats[key] == torch.tessiq.memory_stats(device)[key], key
    free, total = torch.accelerator.get_memory_info(device)
    assert 0 < free <= total
    del x


def test_peak_remembers_and_is_reset(device):
    base = torch.tessiq.memory_allocated(device)
    x = torch.empty(1 << 20, dtype=torch.uint8, device=device)
    del x
    assert torch.accelerator.max_memory_allocated(device) >= base + (1 << 20)
    torch.accelerator.reset_peak_memory_stats(device)
    assert torch.accelerator.max_memory_allocated(device) == torch.accelerator.memory_allocated(device)


def test_empty_cache_gives_memory_back(device):
    x = torch.empty(8 << 20, dtype=torch.uint8, device=device)
    held = torch.accelerator.memory_reserved(device)
    del x
    assert torch.accelerator.memory_reserved(device) == held
    torch.accelerator.empty_cache()
    assert torch.accelerator.memory_reserved(device) <= held - (8 << 20)


def test_impossible_request_raises_twice_and_all_is_well_afterwards(device):
    x = torch.arange(100.0, device=device)
    before = torch.tessiq.memory_allocated(device)
    for _ in range(2):
        with pytest.raises(torch.OutOfMemoryError, match="tessiq"):
            torch.empty(1 << 50, dtype=torch.uint8, device=device)
    assert torch.tessiq.memory_allocated(device) == before
    assert x.sum().item() == 4950.0


def test_nothing_leaks_from_a_training_step(device, fallback):
    def step():
        x = torch.ones(32, 16, device=device, requires_grad=True)
        (torch.nn.functional.gelu(x) @ x.t()).sum().backward()

    step()
    gc.collect()
    start = torch.tessiq.memory_allocated(device)
    for _ in range(5):
        step()
    gc.collect()
    assert torch.tessiq.memory_allocated(device) == start


def test_allocation_goes_to_the_device_that_was_named(device):
    for index in range(tessiq.device_count()):
        before = torch.tessiq.memory_allocated(index)
        x = torch.empty(1000, device=f"tessiq:{index}")
        assert torch.tessiq.memory_allocated(index) == before + 4096
        del x


def test_profiler_sees_allocations(device):
    with torch.profiler.profile(profile_memory=True) as profile:
        x = torch.empty(1000, device=device)
        del x
    assert profile.key_averages() is not None
