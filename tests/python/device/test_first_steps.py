"""The shortest path through the device: make, compute, look, differentiate, train."""

import pytest
import torch
from torch import nn

import tessiq


def test_random_tensor_lives_where_it_was_asked_for(device):
    x = torch.randn(4, device=device)
    assert x.device == device
    assert x.is_tessiq
    assert not x.is_cpu


def test_sum_equals_the_cpus_and_ran_on_the_device(device, fallback, tier):
    x = torch.arange(6.0).reshape(2, 3)
    d = x.to(device)
    tessiq.reset_fallbacks()
    y = d + d
    assert tessiq.fallbacks() == {"aten::add.out": {"borrow": int(tier == "borrow"), "cpu": int(tier == "cpu")}}
    assert y.device == device
    torch.testing.assert_close(y.cpu(), x + x)


def test_views_write_through_to_their_base(device, fallback):
    base = torch.zeros(4, 6, device=device)
    base[1:3, ::2].add_(1.0)
    base.t()[5].fill_(7.0)
    base.view(-1)[0] = -1.0
    base.unfold(0, 2, 2)[0, 0, 0] = 5.0
    want = torch.zeros(4, 6)
    want[1:3, ::2] += 1
    want[:, 5] = 7
    want[0, 0] = 5
    torch.testing.assert_close(base.cpu(), want)


def test_gradient_equals_the_cpus(device, fallback):
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    results = []
    for where in (torch.device("cpu"), device):
        leaf = x.clone().to(where).requires_grad_()
        (torch.sigmoid(leaf) @ leaf.t()).sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.device == where
        results.append(leaf.grad.cpu())
    torch.testing.assert_close(results[1], results[0])


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_ten_steps_of_an_optimizer_equal_the_cpus(device, fallback, optimizer):
    def train(where):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2)).to(where)
        step = optimizer(model.parameters(), lr=0.05)
        x = torch.linspace(-2, 2, 30).reshape(6, 5).to(where)
        y = torch.arange(6).remainder(2).to(where)
        for _ in range(10):
            step.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            step.step()
        return [p.detach().cpu() for p in model.parameters()]

    for got, want in zip(train(device), train("cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-6)


def test_printing_shows_values_and_device(device):
    text = repr(torch.tensor([1.5, 2.5], device=device))
    assert text == f"tensor([1.5000, 2.5000], device='{device}')"
