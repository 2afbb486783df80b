"""The table of :class:`KernelTimes`. Each column of times names its clock."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tessiq.profiling.kernel_times import CALLS_WITH_CUPTI, KernelTimes


def kernel_table(times: KernelTimes) -> RenderableType:
    """One row a kernel, and their sums."""
    with_cupti = any(one.kernel_execution_us is not None for one in times.rows)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("name", "operation", "graph"):
        table.add_column(heading, overflow="fold")
    for heading in ("issue us (host)", "back-to-back us", *(("kernel execution us", "kernels") * with_cupti)):
        table.add_column(heading, justify="right")

    def add(names: Sequence[str], issue: float, queued: float, execution: float | None, kernels: int | None) -> None:
        recorded = ("" if execution is None else f"{execution:.2f}", "" if kernels is None else str(kernels))
        cells = (*names, f"{issue:.2f}", f"{queued:.2f}", *(recorded if with_cupti else ()))
        table.add_row(*[Text(cell) for cell in cells])

    for one in times.rows:
        names = (one.name, one.operation, one.graph)
        add(names, one.issue_us, one.back_to_back_us, one.kernel_execution_us, one.kernels)
    issue = sum(one.issue_us for one in times.rows)
    kernels = sum(one.kernels or 0 for one in times.rows)
    add(("all", "", ""), issue, times.back_to_back_us, times.kernel_execution_us, kernels)
    return Group(table, Text(_caption(times, with_cupti), style="dim"))


def _caption(times: KernelTimes, with_cupti: bool) -> str:
    launches = max((one.launches for one in times.rows), default=0)
    text = f"back-to-back: the stream's time for each of {launches} launches between one pair of events."
    if with_cupti:
        return text + f"\nkernel execution: CUPTI's records, means of {CALLS_WITH_CUPTI} calls."
    return text + "\nNo kernel execution times here: they are CUPTI's, which sees NVIDIA GPUs."
