"""Loads the extension module, after checking that it was built for the PyTorch that is here.

The check comes first because a module built for another PyTorch may fail to load with nothing better than an
undefined symbol, or load and crash later.
"""

import importlib.util
import os
import warnings

import torch
from torch.utils.backend_registration import rename_privateuse1_backend


def check_torch_version(built_for: str, found: str) -> None:
    """Raise ImportError unless both versions name the same release; what follows a plus sign is not compared."""
    if built_for.split("+")[0] != found.split("+")[0]:
        raise ImportError(
            f"this tessiq was built for PyTorch {built_for}, but PyTorch {found} is installed; "
            f"install torch=={built_for.split('+')[0]} or build tessiq against PyTorch {found}"
        )


def wheel_library_folders() -> list[str]:
    """Folders of CUDA libraries that NVIDIA's wheels brought into this environment, in order of name."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or []) if spec is not None else []
    folders = []
    for root in roots:
        if os.path.isdir(root):
            folders += [os.path.join(root, name, "lib") for name in sorted(os.listdir(root))]
    return [folder for folder in folders if os.path.isdir(folder)]


def load() -> None:
    """Load ``tessiq._C`` and name the device. Raises ImportError with a sentence where it cannot be loaded."""
    try:
        from tessiq import _build_info
    except ImportError as error:
        raise ImportError("tessiq's extension module has not been built here: run ./dev build") from error
    check_torch_version(_build_info.TORCH_VERSION, torch.__version__)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        warnings.warn(
            "tessiq was imported after CUDA had been initialised: tessiq is now this process's accelerator, and "
            "backward() over CUDA tensors fails in PyTorch's autograd engine; use one of the two in a process",
            stacklevel=4,
        )
    from tessiq import _C

    # Before anything else of the package, whose modules name devices.
    rename_privateuse1_backend("tessiq")
    for folder in wheel_library_folders():
        _C.add_library_directory(folder)
