"""What a page of the documentation claims to print: its files and its commands, run, and the page with what they print.

A fenced block that opens with a comment of a file's name alone is that file. A `console` block is commands, each behind
`$`, and their output. Nothing else on a page may look like output. Two outputs are equal where they differ in what no
two runs have in common: times, rates, the drawing of them, and the order of rows that times decide.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Output may stand in a console block only; the other languages are text that a reader types, or Sphinx's directives.
LANGUAGES = ("console", "python", "sh")
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (?P<name>[\w-]+\.(?:py|tir))\n")
_TIMED = re.compile(r"-?\d[\d,.]*(?= (?:ns|us|ms|s|[GM]B/s|[GT]FLOP/s)\b)|\d+\.\d+(?!\d| [KMG]iB)%?|\d+%")
_BY_TIME = re.compile(r"^kind +(name|count) ", re.MULTILINE)
_DRAWN = re.compile(r"[#─]{2,}|#")


@dataclass(frozen=True)
class File:
    """A file that a reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A line that a reader types, what the page says it prints, and where in the page that is."""

    line: str
    output: str
    span: tuple[int, int]


class PageError(Exception):
    """A block that looks like output and cannot be checked."""


def examples(page: str) -> list[File | Command]:
    """The files and commands of a page, in order."""
    found: list[File | Command] = []
    for fence in _FENCE.finditer(page):
        info, body = fence["info"], fence["body"]
        if info == "console":
            found += _commands(body, fence.start("body"))
        elif name := _FILE.match(body):
            found.append(File(name["name"], body))
        elif info not in LANGUAGES and not info.startswith("{"):
            line = page.count("\n", 0, fence.start()) + 1
            raise PageError(f"line {line}: a block of {info or 'no language'}: only a console block may show output")
    return found


def _commands(body: str, at: int) -> list[Command]:
    if not body.startswith("$ "):
        raise PageError(f"a console block opens with a command behind $, not with {body.splitlines()[0]!r}")
    starts = [match.start() for match in re.finditer(r"^\$ ", body, re.MULTILINE)]
    commands = []
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        head = body.index("\n", start) + 1
        commands.append(Command(body[start + 2 : head - 1], body[head:end], (at + head, at + end)))
    return commands


def tessiq_opt() -> Path | None:
    """The tool of this checkout's build, whichever preset made it."""
    build = ROOT / os.environ.get("TESSIQ_BUILD", "build")
    found = [build / preset / "tessiq-opt" for preset in ("dev", "core", "release")]
    return next((path for path in found if path.exists()), None)


def printed(command: Command, folder: Path) -> str:
    """Standard output and error of a command, run in `folder` as a reader would, 110 columns wide."""
    tools = [str(Path(sys.executable).parent), *([str(opt.parent)] if (opt := tessiq_opt()) else [])]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*tools, os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT / "python"),
        "COLUMNS": "110",
    }
    # Chosen by the reader of a page, not by whoever runs the tests.
    environment = {name: value for name, value in environment.items() if name not in ("TORCH_LOGS", "TESSIQ_LOGS")}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    text = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    return text if done.returncode == 0 else f"{text}[exit status {done.returncode}]\n"


def comparable(output: str) -> str:
    """The output without what no two runs have in common; the words of a table of times without their order."""
    words = _DRAWN.sub("", _TIMED.sub("0", output)).split()
    return " ".join(sorted(words) if _BY_TIME.search(output) else words)


def run_page(page: str, folder: Path) -> list[tuple[Command, str]]:
    """Writes a page's files into `folder`, runs its commands there in order, and gives what each printed."""
    outputs = []
    for example in examples(page):
        if isinstance(example, File):
            (folder / example.name).write_text(example.text)
        else:
            outputs.append((example, printed(example, folder)))
    return outputs


def rewritten(page: str, outputs: list[tuple[Command, str]]) -> str:
    """The page with what was printed in place of what it said, where the two are not equal."""
    for command, output in reversed(outputs):
        if comparable(command.output) != comparable(output):
            page = page[: command.span[0]] + output + page[command.span[1] :]
    return page
