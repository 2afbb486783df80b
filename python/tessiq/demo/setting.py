"""Where a comparison runs: which device computes, and where the tensors are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

import tessiq
from tessiq import _C


@dataclass(frozen=True)
class Setting:
    """One way into the compiler.

    Attributes:
        device: the tessiq device that computes.
        on_device: the tensors are there already; else they are on the host and the compiled call moves what it claims.
    """

    device: torch.device
    on_device: bool

    @property
    def label(self) -> str:
        """For a table."""
        name = "reference" if self.device.index == 0 else f"GPU {self.device.index - 1}"
        return f"{name}, tensors on the {'device' if self.on_device else 'host'}"

    @property
    def home(self) -> torch.device:
        """Where the tensors are."""
        return self.device if self.on_device else torch.device("cpu")

    def compile(self, model: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        """The model through ``torch.compile`` as this setting asks for it."""
        # PyTorch passes options on as they are; its own annotation names only what Inductor's can be.
        options: dict[str, Any] = {} if self.on_device else {"device": self.device}
        return torch.compile(model, backend="tessiq", options=options)

    def wait(self) -> None:
        """Until the device has done everything."""
        _C.synchronize(self.device.index)


def settings() -> list[Setting]:
    """The reference device, and the first GPU where there is one, each both ways."""
    devices = [tessiq.cpu, *([tessiq.gpu] if tessiq.device_count() > 1 else [])]
    return [Setting(device, on_device) for device in devices for on_device in (False, True)]
