"""A module moved between the host and a device keeps its parameters, as one moved to CUDA does."""

import torch
from torch import nn


def tied() -> nn.Sequential:
    module = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5, bias=False))
    module[1].weight = module[0].weight
    return module


def test_two_names_of_one_parameter_stay_one(device: torch.device) -> None:
    module = tied()
    weight = module[0].weight
    module.to(device)
    assert module[0].weight is module[1].weight is weight
    assert weight.device == device
    module.cpu()
    assert module[0].weight is module[1].weight is weight
    assert weight.device.type == "cpu"


def test_gradient_of_a_tied_parameter_is_the_sum_of_both_uses(device: torch.device) -> None:
    module, words = tied(), torch.tensor([1, 2])
    module(words).square().sum().backward()
    expected = module[0].weight.grad
    assert expected is not None
    module.zero_grad()
    module.to(device)(words.to(device)).square().sum().backward()
    torch.testing.assert_close(module[1].weight.grad.cpu(), expected)


def test_optimiser_made_before_the_move_steps_the_moved_parameters(device: torch.device) -> None:
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()
    optimiser = torch.optim.SGD(module.parameters(), lr=1)
    module.to(device)
    module(torch.ones(1, 3, device=device)).sum().backward()
    optimiser.step()
    torch.testing.assert_close(module.weight.detach().cpu(), before - 1)


def test_gradient_moves_with_its_parameter(device: torch.device) -> None:
    module = nn.Linear(3, 2)
    module(torch.ones(1, 3)).sum().backward()
    module.to(device)
    assert module.weight.grad is not None
    assert module.weight.grad.device == device
    torch.testing.assert_close(module.weight.grad.cpu(), torch.ones(2, 3))


def test_data_of_the_host_may_become_a_tensor_of_the_device(device: torch.device) -> None:
    tensor, data = torch.zeros(2), torch.arange(6.0).reshape(3, 2)
    tensor.data = data.to(device)
    assert tensor.device == device
    torch.testing.assert_close((tensor + 1).cpu(), data + 1)


def test_sparse_data_does_not_take_a_dense_tensors_place(device: torch.device) -> None:
    tensor = torch.zeros(2, 2, device=device)
    assert not torch._has_compatible_shallow_copy_type(tensor, torch.eye(2).to_sparse())
    assert not torch._has_compatible_shallow_copy_type(torch.eye(2).to_sparse(), tensor)
    assert torch._has_compatible_shallow_copy_type(tensor, torch.eye(2))
