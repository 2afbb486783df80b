"""Tells PyTorch's Python side about the device. Runs once, when the package is imported."""

import torch
from torch.utils.backend_registration import generate_methods_for_privateuse1_backend

from tessiq.device import encoder_layer, interface, logs, recurrent_layer


def register() -> None:
    """Give PyTorch the device's module, and generate ``tensor.tessiq()`` and the like."""
    logs.connect()
    torch._register_device_module("tessiq", interface)  # type: ignore[no-untyped-call]
    generate_methods_for_privateuse1_backend(
        for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
    )
    encoder_layer.register()
    recurrent_layer.register()
    # PyTorch lets cuDNN round float32 convolutions to TF32 unless told otherwise; tessiq's default is plain float32 for
    # convolutions as for matrix multiplies. Set it back to True after the import to get TF32.
    torch.backends.cudnn.allow_tf32 = False
