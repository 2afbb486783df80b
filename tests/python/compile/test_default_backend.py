"""PyTorch's default compiler has nothing for this device, and says what to do instead."""

import pytest
import torch

from tessiq.device.inductor import SENTENCE


@pytest.mark.parametrize("dynamic", [False, True])
def test_default_backend_names_the_backend_to_use(device: torch.device, dynamic: bool) -> None:
    compiled = torch.compile(torch.nn.Linear(4, 4).to(device), dynamic=dynamic)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        compiled(torch.randn(2, 4, device=device))
    assert SENTENCE in str(raised.value)
    assert 'backend="tessiq"' in SENTENCE


def test_default_backend_names_it_for_a_reduction_too(device: torch.device) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        torch.compile(lambda x: (x * 2).softmax(-1))(torch.randn(2, 4, device=device))
    assert SENTENCE in str(raised.value)


def test_the_host_still_compiles_with_the_default_backend() -> None:
    x = torch.randn(4)
    torch.testing.assert_close(torch.compile(lambda y: torch.relu(y) + 1)(x), torch.relu(x) + 1)
