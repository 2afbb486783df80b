"""Where a compiled call's time goes: :func:`tessiq.profile` for a call, :func:`tessiq.time_kernels` for its kernels.

Every number says which clock it is by. ``host``: time on the calling thread, what issuing work costs. ``device``:
between two events around one piece of work in a real call. ``back-to-back``: between two events around many launches
of the same kernel, a launch's share. ``kernel execution``: the device's own record of a kernel's start and end.
"""

from tessiq.profiling.cost import Cost, profile_cost
from tessiq.profiling.kernel_times import KernelTime, KernelTimes, time_kernels
from tessiq.profiling.profile import Profile, profile
from tessiq.profiling.region import Region, Total

__all__ = ["Cost", "KernelTime", "KernelTimes", "Profile", "Region", "Total", "profile", "profile_cost", "time_kernels"]
