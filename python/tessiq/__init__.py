"""tessiq: a PyTorch device and graph compiler for NVIDIA GPUs, with a CPU reference device.

Importing it registers the device ``tessiq`` (index 0 is the reference device, GPUs follow) and makes it this
process's accelerator.
"""

from tessiq.device import extension as _extension

_extension.load()

from tessiq import _C  # noqa: E402 - needs the check that load() makes
from tessiq.device import register as _register  # noqa: E402

_register.register()

from tessiq import operations as _operations  # noqa: E402

_operations.register()

from tessiq.config import config  # noqa: E402
from tessiq.debug import compare, reduce  # noqa: E402
from tessiq.device.fallback import fallbacks, reset_fallbacks  # noqa: E402
from tessiq.device.names import cpu, device_count, gpu, gpu_at, is_available  # noqa: E402
from tessiq.explain import Report, explain  # noqa: E402
from tessiq.operations import check_operations, load_operations  # noqa: E402
from tessiq.profiling import KernelTimes, Profile, profile, profile_cost, time_kernels  # noqa: E402

__version__: str = _C.__version__

__all__ = [
    "KernelTimes",
    "Profile",
    "Report",
    "__version__",
    "check_operations",
    "compare",
    "config",
    "cpu",
    "device_count",
    "explain",
    "fallbacks",
    "gpu",
    "gpu_at",
    "is_available",
    "load_operations",
    "profile",
    "profile_cost",
    "reduce",
    "reset_fallbacks",
    "time_kernels",
]
