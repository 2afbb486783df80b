"""The page of measurements: the newest good run of each benchmark, losses marked."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_performance", ROOT / "tools" / "gen_performance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def result_file(folder: Path, name: str, ours: float, *, ok: bool = True) -> None:
    rows = [
        {"work": "w", "contender": contender, "kernel_us": time, "GB_per_s": 1.0, "of_copy_ceiling": 0.5}
        for contender, time in (("copy", 1.0), ("tessiq", ours), ("eager", 8.0), ("inductor", 4.0))
    ]
    part = {"name": "bench_rows", "ok": ok, "rows": rows}
    machine = {"date": name, "cards": ["card"], "torch": "t"}
    (folder / f"{name}.json").write_text(json.dumps({"machine": machine, "parts": [part]}))


def test_loss_is_marked_and_a_win_is_not(page: ModuleType, tmp_path: Path) -> None:
    result_file(tmp_path, "2026-01-01", 5.0)
    assert "| 50.0% | **0.80** |" in page.render(tmp_path)
    result_file(tmp_path, "2026-01-02", 2.0)
    assert "| 50.0% | 2.00 |" in page.render(tmp_path)


def test_run_that_failed_is_not_shown(page: ModuleType, tmp_path: Path) -> None:
    result_file(tmp_path, "2026-01-01", 2.0)
    result_file(tmp_path, "2026-01-02", 1.0, ok=False)
    assert "2026-01-01, card" in page.render(tmp_path)


def test_models_show_both_clocks_and_how_many_times_as_fast_tessiq_is(page: ModuleType) -> None:
    rows = [
        {"work": "m", "contender": who, "kernels": 10, "kernel_us": kernel, "call_us": call}
        for who, kernel, call in (("tessiq", 100.0, 400.0), ("inductor", 80.0, 600.0))
    ]
    lines = page.models_table(rows)
    assert "| m | tessiq | 10 | 100 | 400 | 1.00 | 1.00 |" in lines
    assert "| m | inductor | 10 | 80 | 600 | **0.80** | 1.50 |" in lines


def test_lengths_show_the_symbolic_compile_over_the_exact_one(page: ModuleType) -> None:
    ratios = {
        "kernel_us_of_exact": 1.01,
        "queued_us_of_exact": 1.02,
        "call_us_of_exact": 1.03,
        "host_us_of_exact": 1.04,
    }
    rows = [{"work": "e", "contender": "symbolic", **ratios}, {"work": "e", "contender": "exact"}]
    assert page.lengths_table(rows)[2:] == ["| e | 1.01 | 1.02 | 1.03 | 1.04 |"]


def test_page_of_the_checkout_is_fresh(page: ModuleType) -> None:
    assert page.PAGE.read_text() == page.render(ROOT / "bench" / "results")


def test_an_operation_is_shown_beside_what_is_generated_for_it(page: ModuleType) -> None:
    rows = [
        {"work": "o", "contender": who, "kernel_us": kernel}
        for who, kernel in (("operation", 20.0), ("compiled", 15.0))
    ]
    assert "| o | 20.0 | 15.0 | **0.75** |" in page.operations_table(rows)


def test_first_calls_show_both_caches(page: ModuleType) -> None:
    rows = [{"work": "f", "contender": "tessiq", "cold_s": 3.5, "warm_s": 1.25}]
    assert "| f | tessiq | 3.5 | 1.25 |" in page.first_calls_table(rows)
