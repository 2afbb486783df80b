"""Storages, what points at them, and their way through files."""

import copy
import io
import pickle

import pytest
import torch
from torch.testing import assert_close


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer


def test_save_and_load_keep_device_values_and_sharing(device):
    base = torch.arange(6.0, device=device)
    loaded = torch.load(saved({"base": base, "view": base[2:4]}))
    assert loaded["base"].device == device
    loaded["base"][2] = -1.0
    assert loaded["view"][0].item() == -1.0


@pytest.mark.parametrize("weights_only", [True, False])
def test_state_dict_goes_through_a_file_to_any_device(device, weights_only):
    model = torch.nn.Linear(3, 2).to(device)
    on_host = torch.load(saved(model.state_dict()), map_location="cpu", weights_only=weights_only)
    assert on_host["weight"].device.type == "cpu"
    back = torch.load(saved(on_host), map_location=device, weights_only=weights_only)
    assert back["weight"].device == device
    assert_close(back["weight"].cpu(), model.weight.detach().cpu())
    anywhere = torch.load(saved(on_host), map_location="tessiq", weights_only=weights_only)
    assert anywhere["weight"].device.type == "tessiq"


def test_pickle_and_deepcopy(device):
    x = torch.arange(4.0, device=device, requires_grad=True)
    again = pickle.loads(pickle.dumps(x))
    assert again.device == device
    assert again.requires_grad
    assert_close(again.detach().cpu(), x.detach().cpu())
    model = torch.nn.Sequential(torch.nn.Linear(2, 2)).to(device)
    twin = copy.deepcopy(model)
    assert twin[0].weight.device == device
    with torch.no_grad():
        twin[0].weight.zero_()
    assert model[0].weight.abs().sum().item() > 0


def test_parameters_with_state_of_an_optimizer_load(device):
    weight = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer = torch.optim.Adam([weight])
    weight.sum().backward()
    optimizer.step()
    state = torch.load(saved(optimizer.state_dict()))
    again = torch.optim.Adam([weight])
    again.load_state_dict(state)
    assert again.state[weight]["exp_avg"].device == device


def test_storage_knows_its_device_and_copies(device):
    x = torch.arange(4.0, device=device)
    storage = x.untyped_storage()
    assert storage.device == device
    assert storage.is_tessiq
    assert storage.nbytes() == 16
    assert storage.cpu().device.type == "cpu"
    twin = storage.clone()
    x.zero_()
    assert twin.cpu().tolist() == torch.arange(4.0).untyped_storage().tolist()
    assert torch.UntypedStorage(8, device=device).device == device


def test_storage_resizes_to_nothing_and_back(device):
    x = torch.ones(8, device=device)
    storage = x.untyped_storage()
    storage.resize_(0)
    assert storage.nbytes() == 0
    storage.resize_(32)
    x.fill_(2.0)
    assert_close(x.cpu(), torch.full((8,), 2.0))


def test_resize_keeps_what_was_there(device):
    x = torch.arange(4.0, device=device)
    x.resize_(2, 3)
    assert_close(x.flatten()[:4].cpu(), torch.arange(4.0))
    x.resize_(1, 2)
    assert_close(x.cpu(), torch.tensor([[0.0, 1.0]]))
    x.resize_(1, 2, 2, 2, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="negative"):
        x.resize_(-1)


def test_set_points_a_tensor_at_other_memory(device):
    x, y = torch.arange(6.0, device=device), torch.empty(0, device=device)
    y.set_(x)
    y[0] = 9.0
    assert x[0].item() == 9.0
    y.set_(x.untyped_storage(), 2, (2, 2), (2, 1))
    assert_close(y.cpu(), torch.tensor([[2.0, 3.0], [4.0, 5.0]]))
    y.set_(x.untyped_storage())
    assert y.shape == (6,)
    y.set_()
    assert y.numel() == 0
    assert y.device == device


def test_set_to_memory_of_another_device_is_refused(device):
    with pytest.raises(RuntimeError, match="device"):
        torch.empty(0, device=device).set_(torch.ones(2))


def test_view_past_the_end_of_a_storage_is_refused(device):
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.ones(4, device=device).as_strided((5,), (1,))


def test_data_assignment_rebinds_and_data_writes_through(device):
    base = torch.zeros(6, device=device)
    view = base.view(2, 3)
    base.data.add_(4.0)
    assert_close(view.cpu(), torch.full((2, 3), 4.0))
    base.data = base.data - 1.0
    assert_close(view.cpu(), torch.full((2, 3), 4.0))
    assert_close(base.cpu(), torch.full((6,), 3.0))


def test_detach_and_multiple_output_views_alias(device, fallback):
    base = torch.arange(12, device=device).reshape(3, 4)
    left, right = base.split(2, dim=1)
    top, last, mid = base.chunk(3)[0], base.unbind(0)[2], base.narrow(0, 1, 1)
    base[0, 0] = -5
    right[2, 1] = -6
    mid.fill_(9)
    assert left[0, 0].item() == top[0, 0].item() == -5
    assert last[3].item() == -6
    assert base.tolist() == [[-5, 1, 2, 3], [9, 9, 9, 9], [8, 9, 10, -6]]


def test_complex_views_alias(device, fallback):
    z = torch.tensor([1 + 2j, 3 + 4j], device=device)
    torch.view_as_real(z)[0, 1] = 7.0
    z.real.add_(1.0)
    assert_close(z.cpu(), torch.tensor([2 + 7j, 4 + 4j]))
    assert torch.view_as_complex(torch.ones(3, 2, device=device)).dtype == torch.complex64


def test_view_as_another_type_aliases(device):
    x = torch.tensor([1.0], device=device)
    assert x.view(torch.int32).item() == 0x3F800000
