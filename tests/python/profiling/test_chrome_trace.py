"""The file is what a trace viewer reads: complete slices that nest, on named tracks, with what a reader asks for."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import tessiq

Call = Callable[..., torch.Tensor]
Slice = dict[str, object]


def saved(p: tessiq.Profile, folder: Path) -> list[Slice]:
    path = folder / "trace.json"
    p.save_chrome_trace(path)
    trace = json.loads(path.read_text())
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert [one.name for one in folder.iterdir()] == ["trace.json"]
    return trace["traceEvents"]


def slices(events: list[Slice]) -> list[Slice]:
    return [one for one in events if one["ph"] == "X"]


@pytest.fixture
def events(mixed: Call, tmp_path: Path) -> list[Slice]:
    with tessiq.profile(device_time=True) as p:
        for _ in range(3):
            mixed(torch.randn(32, 64))
    return saved(p, tmp_path)


def test_every_slice_is_complete_and_every_track_has_a_name(events: list[Slice]) -> None:
    assert {one["ph"] for one in events} == {"X", "M"}
    for one in slices(events):
        assert isinstance(one["name"], str)
        assert one["cat"] in ("call", "kernel", "interpreted", "transfer")
        assert isinstance(one["ts"], float)
        assert isinstance(one["dur"], float)
        assert one["ts"] >= 0
        assert one["dur"] >= 0
        assert isinstance(one["pid"], int)
        assert isinstance(one["tid"], int)
    named = {(one["pid"], one["tid"]) for one in events if one["name"] == "thread_name"}
    assert named == {(one["pid"], one["tid"]) for one in slices(events)}
    processes = {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert len(processes) == 2
    assert "host clock" in processes.values()


def test_slices_of_a_track_nest(events: list[Slice]) -> None:
    tracks = defaultdict(list)
    for one in slices(events):
        tracks[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"], one["name"]))
    assert len(tracks) == 2
    rounding = 1e-3
    for track in tracks.values():
        around: list[tuple[float, float, str]] = []
        for start, end, name in sorted(track, key=lambda one: (one[0], -one[1])):
            while around and start >= around[-1][1] - rounding:
                around.pop()
            assert not around or end <= around[-1][1] + rounding, f"{name} leaves {around[-1][2]}"
            around.append((start, end, name))


def test_the_exclusive_times_of_a_clock_add_up_to_its_calls(events: list[Slice]) -> None:
    for clock in ("host", "device"):
        mine = [one for one in slices(events) if one["args"]["clock"] == clock]
        calls = sum(one["dur"] for one in mine if one["cat"] == "call")
        assert sum(one["args"]["exclusive_us"] for one in mine) == pytest.approx(calls, rel=1e-3)


def test_kernels_are_linked_to_ir_names_and_transfers_say_their_bytes(events: list[Slice]) -> None:
    loops = [one for one in slices(events) if one["args"]["operation"] == "loop"]
    assert {one["name"] for one in loops} == {"%tanh"}
    assert all(one["args"]["ir"] == ["%relu", "%mul", "%tanh"] for one in loops)
    transfers = [one for one in slices(events) if one["cat"] == "transfer"]
    assert {one["args"]["bytes"] for one in transfers} == {32 * 64 * 4}
    assert all("bytes" not in one["args"] for one in loops)


def test_both_threads_of_a_training_step_have_a_track(on_device: Call, tmp_path: Path) -> None:
    x = torch.randn(32, 64, device=next(on_device.parameters()).device)
    with tessiq.profile() as p:
        on_device(x).sum().backward()
    tracks = {one["tid"]: one["name"] for one in slices(saved(p, tmp_path)) if one["cat"] == "call"}
    assert sorted(tracks.values()) == ["backward", "forward"]


def test_a_path_that_cannot_be_written_leaves_nothing(mixed: Call, tmp_path: Path) -> None:
    with tessiq.profile() as p:
        mixed(torch.randn(32, 64))
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        p.save_chrome_trace(tmp_path / "folder")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError):
        p.save_chrome_trace(tmp_path / "missing" / "trace.json")
