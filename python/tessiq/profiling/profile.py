"""A profile of compiled calls: when it records, and what can be read from it afterwards.

The recording is csrc/profiling. Here is decided what a user may do in which order, and what a wrong order says.
"""

import time
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tessiq import _C
from tessiq.profiling.chrome_trace import write_trace
from tessiq.profiling.region import Grouping, Region, Total, regions_from, totals

if TYPE_CHECKING:
    from rich.console import Console


class Profile:
    """What :func:`profile` gives. Records while its ``with`` block runs; everything else is read after it."""

    def __init__(self, *, device_time: bool, nvtx: bool) -> None:
        self.device_time = device_time
        self._nvtx = nvtx
        self._recorder: _C.Recorder | None = None
        self._start_ns = 0
        self._end_ns = 0
        self._regions: tuple[Region, ...] | None = None

    def __enter__(self) -> Self:
        if self._recorder is not None or self._regions is not None:
            raise RuntimeError("this profile has recorded already: make another with tessiq.profile()")
        if _C.is_recording():
            raise RuntimeError(
                "a profile is being recorded in this thread already, and a compiled call is in one profile only: "
                "end the outer `with tessiq.profile()` first, or use its events"
            )
        try:
            self._recorder = _C.start_recorder(self.device_time, self._nvtx, torch_ranges=False, launches=0)
        except LookupError as error:
            raise RuntimeError(
                f"nvtx=True needs NVTX's library: {error}; install the package nvidia-nvtx, or leave nvtx out"
            ) from error
        self._start_ns = time.monotonic_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end_ns = time.monotonic_ns()
        recorder, self._recorder = self._recorder, None
        # A profile whose clocks cannot be read holds nothing, and cannot be entered again.
        self._regions = ()
        if recorder is not None:
            self._regions = regions_from(recorder.stop(), self._start_ns)

    @property
    def regions(self) -> tuple[Region, ...]:
        """Every call with what is inside it, in the order they began in each outermost call."""
        if self._regions is None:
            raise RuntimeError("this profile has nothing to read before its `with` block has ended")
        return self._regions

    @property
    def calls(self) -> tuple[Region, ...]:
        """The compiled calls, forward and backward, without those made inside another."""
        return tuple(one for one in self.regions if one.parent is None)

    @property
    def events(self) -> tuple[Region, ...]:
        """Kernels, interpreted nodes and transfers."""
        return tuple(one for one in self.regions if one.kind != "call")

    @property
    def host_us(self) -> float:
        """Time in compiled calls, by the host's clock. The totals add up to it."""
        return sum(one.host_us for one in self.calls)

    @property
    def wall_us(self) -> float:
        """Time of the whole ``with`` block, by the host's clock, with what runs around compiled calls and outside."""
        self.regions  # noqa: B018 - says what is wrong while recording
        return (self._end_ns - self._start_ns) / 1000

    def totals(self, by: Grouping = "name") -> tuple[Total, ...]:
        """Sums by kernel, node and copy, or by kind; the longest first, the executor's own time last."""
        return totals(self.regions, by)

    def show(self, by: Grouping = "name", *, rows: int = 30, console: "Console | None" = None) -> None:
        """Prints the totals as a table."""
        # Drawing takes longer to import than all of tessiq, and many programs never print a profile.
        from tessiq.profiling.table import budget, draw

        draw(budget(self.totals(by), self.calls, self.wall_us, rows), console)

    def __str__(self) -> str:
        if self._regions is None:
            return "tessiq profile, not recorded yet" if self._recorder is None else "tessiq profile, recording"
        from tessiq.profiling.table import budget, plain

        return plain(budget(self.totals(), self.calls, self.wall_us, rows=30))

    def save_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Writes a time line that Perfetto (ui.perfetto.dev) and chrome://tracing open."""
        write_trace(self.regions, path)


def profile(device_time: bool = False, *, nvtx: bool = False) -> Profile:
    """Records this thread's compiled calls, and the backward passes it starts::

        with tessiq.profile() as p:
            compiled(x)
        p.show()

    Args:
        device_time: also read the device's clock, through two events around each piece of work. They are set without
            waiting and read once, at the end, but setting them costs the host about as much as launching a small
            kernel: read the host's times from a profile without.
        nvtx: also open an NVTX range around each call and event, for Nsight Systems.

    Raises:
        RuntimeError: on entering, where this thread is in a profile already, or ``nvtx`` finds no library.
    """
    return Profile(device_time=device_time, nvtx=nvtx)
