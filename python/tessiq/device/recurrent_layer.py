"""How a recurrent layer on the device is traced: as PyTorch's decomposition has it, with states of the right sizes.

That decomposition leaves an axis of one in the last states where it runs step by step, which is wherever PyTorch's CPU
library does not take the layer.
"""

import torch

_lstm = torch.ops.aten.lstm.input


def lstm(
    x: torch.Tensor, states: tuple[torch.Tensor, torch.Tensor], *rest: object
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``states`` (layers, B, H) each, as are the last ones that come after the outputs."""
    # Imported when something is traced: importing the package does not.
    from torch._decomp.decompositions import lstm_impl

    outputs, hidden, cell = lstm_impl(x, states, *rest)
    return outputs, hidden.reshape(states[0].shape), cell.reshape(states[1].shape)


def register() -> None:
    """For the device's own key: nothing else's tracing changes."""
    _lstm.py_impl(torch._C.DispatchKey.AutogradPrivateUse1)(lstm)
