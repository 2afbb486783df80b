"""The drawings of measurements: what they are drawn from, and that a stale one is found."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tools" / "gen_plots.py"


def run_python(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: matplotlib keeps the state of what it drew."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r})\n{text}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_rows_are_points_and_every_work_has_its_name() -> None:
    done = run_python(
        "import gen_plots\n"
        "rows = [{'work': f'softmax 8x8 {dtype}', 'contender': who, 'kernel_us': time}\n"
        "        for dtype in gen_plots.COLORS for who, time in (('tessiq', 2.0), ('eager', 8.0), ('inductor', 3.0))]\n"
        "(axes,) = gen_plots.draw_rows(rows).axes\n"
        "print([tick.get_text() for tick in axes.get_yticklabels()])\n"
        "print([points.get_offsets().tolist() for points in axes.collections])\n"
    )
    assert done.stdout.splitlines() == ["['softmax 8x8']", "[[[1.5, 0.0]], [[1.5, 0.0]]]"], done.stderr


def test_models_are_compared_with_the_best_of_their_peers() -> None:
    done = run_python(
        "import gen_plots\n"
        "rows = [{'work': 'm', 'contender': who, 'kernel_us': kernel, 'call_us': call}\n"
        "        for who, kernel, call in (('tessiq', 4.0, 5.0), ('eager', 8.0, 9.0), ('inductor', 3.0, 6.0))]\n"
        "(axes,) = gen_plots.draw_models(rows).axes\n"
        "print([float(round(bar.get_width(), 2)) for bar in axes.patches])\n"
    )
    assert done.stdout == "[0.75, 1.2]\n", done.stderr


def test_a_stale_drawing_is_found(tmp_path: Path) -> None:
    text = (
        "import gen_plots, pathlib\n"
        "gen_plots.FOLDER = pathlib.Path(sys.argv[1])\n"
        "gen_plots.drawn = lambda part: '<svg/>'\n"
        "sys.argv[1:] = sys.argv[2:]\n"
        "sys.exit(gen_plots.main())\n"
    )
    assert run_python(text, str(tmp_path), "--check").returncode == 1
    assert run_python(text, str(tmp_path)).returncode == 0
    assert run_python(text, str(tmp_path), "--check").returncode == 0
    (tmp_path / "bench_rows.svg").write_text("<svg>other</svg>")
    done = run_python(text, str(tmp_path), "--check")
    assert done.returncode == 1
    assert done.stderr.endswith("bench_rows.svg is stale: run ./dev gen and commit what changed\n")
    assert len(done.stderr.splitlines()) == 1
