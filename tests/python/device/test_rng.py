"""Seeds, states, and that random operators draw from the device's generator only."""

import pytest
import torch
from torch.testing import assert_close

import tessiq

DRAWS = {
    "randn": lambda d: torch.randn(7, 5, device=d),
    "rand": lambda d: torch.rand(33, device=d),
    "randint": lambda d: torch.randint(0, 100, (20,), device=d),
    "randperm": lambda d: torch.randperm(30, device=d),
    "bernoulli": lambda d: torch.bernoulli(torch.full((40,), 0.3, device=d)),
    "normal": lambda d: torch.empty(17, device=d).normal_(2.0, 3.0),
    "exponential": lambda d: torch.empty(9, device=d).exponential_(),
    "multinomial": lambda d: torch.multinomial(torch.ones(8, device=d), 4),
    "dropout": lambda d: torch.nn.functional.dropout(torch.ones(50, device=d), 0.4),
    "poisson": lambda d: torch.poisson(torch.full((12,), 3.0, device=d)),
    "rrelu": lambda d: torch.nn.functional.rrelu(-torch.ones(12, device=d), training=True),
}


def test_same_seed_gives_the_same_numbers(device, fallback):
    for name, draw in DRAWS.items():
        torch.manual_seed(11)
        first = draw(device)
        second = draw(device)
        torch.manual_seed(11)
        assert_close(draw(device), first, msg=name)
        assert_close(draw(device), second, msg=name)
        assert not torch.equal(first.cpu(), second.cpu()), name


def test_every_device_and_tier_gives_the_same_numbers(device, fallback):
    for name, draw in DRAWS.items():
        torch.manual_seed(5)
        want = draw("tessiq:0").cpu()
        torch.manual_seed(5)
        assert_close(draw(device).cpu(), want, msg=name)


def test_cpus_generator_is_left_alone(device, fallback):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    for draw in DRAWS.values():
        draw(device)
    assert torch.equal(torch.get_rng_state(), before)


def test_random_operators_are_never_borrowed(device, fallback):
    tessiq.reset_fallbacks()
    for draw in DRAWS.values():
        draw(device)
    counts = tessiq.fallbacks()
    assert counts["aten::normal_"]["cpu"] > 0
    assert counts["aten::normal_"]["borrow"] == 0
    assert counts["aten::bernoulli_.float"]["borrow"] == 0


def test_state_can_be_kept_and_put_back(device):
    torch.tessiq.manual_seed(1)
    torch.randn(3, device=device)
    state = torch.tessiq.get_rng_state(device)
    assert state.dtype == torch.uint8
    first = torch.randn(5, device=device)
    torch.tessiq.set_rng_state(state, device)
    assert_close(torch.randn(5, device=device), first)


def test_state_of_another_size_is_refused(device):
    for state in (torch.zeros(3, dtype=torch.uint8), torch.zeros(16)):
        with pytest.raises((RuntimeError, TypeError), match="RNG state"):
            torch.tessiq.set_rng_state(state, device)


def test_fork_rng_restores_the_device(device):
    torch.manual_seed(2)
    want = torch.randn(4, device=device)
    torch.manual_seed(2)
    with torch.random.fork_rng(devices=[device.index], device_type="tessiq"):
        torch.randn(100, device=device)
    assert_close(torch.randn(4, device=device), want)


def test_own_generator_is_independent_of_the_default_one(device, fallback):
    generator = torch.Generator(device=device)
    assert generator.device == device
    generator.manual_seed(9)
    torch.manual_seed(1)
    first = torch.randn(6, device=device, generator=generator)
    after = torch.randn(6, device=device)
    torch.manual_seed(1)
    assert_close(torch.randn(6, device=device), after)
    generator.manual_seed(9)
    assert_close(torch.randn(6, device=device, generator=generator), first)


def test_cloned_generator_continues_where_the_first_was(device):
    generator = torch.Generator(device=device).manual_seed(4)
    torch.randn(3, device=device, generator=generator)
    copy = generator.clone_state()
    assert_close(torch.randn(3, device=device, generator=generator), torch.randn(3, device=device, generator=copy))


def test_generator_of_another_device_type_is_refused(device, fallback):
    with pytest.raises(RuntimeError, match="generator"):
        torch.randn(3, device=device, generator=torch.Generator())


def test_initial_seed_is_the_one_given(device):
    torch.manual_seed(1234)
    assert torch.tessiq.initial_seed() == 1234
    torch.tessiq.seed()
    assert torch.tessiq.initial_seed() != 1234


def test_draws_have_the_right_moments(device, fallback):
    torch.manual_seed(0)
    x = torch.randn(20000, device=device)
    assert abs(x.mean().item()) < 0.05
    assert abs(x.std().item() - 1) < 0.05
    kept = torch.nn.functional.dropout(torch.ones(20000, device=device), 0.25)
    assert abs((kept == 0).float().mean().item() - 0.25) < 0.02
    assert_close(kept.max().cpu(), torch.tensor(1 / 0.75))
