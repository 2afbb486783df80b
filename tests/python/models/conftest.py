"""The settings the models run in, and the line each leaves at the end of a run."""

import pytest
import torch
from measurement import Setting

import tessiq


@pytest.fixture(params=["host", "device"])
def setting(request: pytest.FixtureRequest, device: torch.device) -> Setting:
    return Setting(device, on_device=request.param == "device")


@pytest.fixture
def gpu() -> torch.device:
    if tessiq.device_count() < 2:
        pytest.skip(f"no GPU: {tessiq._C.discovery_note()}")
    return torch.device("tessiq", 1)


@pytest.fixture(autouse=True)
def _fresh(fresh_compiles: None) -> None:
    """For every model."""


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line a model: what a change of the compiler moved is seen where the run ends."""
    rows = {
        report.nodeid.rpartition("::")[2]: dict(report.user_properties)
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if any(name == "claimed_share" for name, _ in report.user_properties)
    }
    if not rows:
        return
    terminalreporter.section("models")
    terminalreporter.line(
        "claimed of operations  kernels  library  borrowed  on host  breaks  first s  later s  error (eager's)"
    )
    for name, row in sorted(rows.items()):
        terminalreporter.line(
            f"{row['claimed_share']:7.1%} of {row['operations'] - row['views']:5}      {row['kernels']:7}  "
            f"{row['library_calls']:7}  {row['borrowed_kernels']:8}  {row['on_host']:7}  {row['graph_breaks']:6}  "
            f"{row['first_call_seconds']:7.1f}  {row['later_call_seconds']:7.3f}  "
            f"{row['worst_error']:.1e} ({row['eagers_worst_error']:.1e})  {name}"
        )
