"""Checks what the tree may look like: who may include whom, how long a file may be, which folders are described.

The rules are data in layers.toml beside this file; what a rule means is decided here. Exits 1 and prints one line
for each breach, as path:line: what is wrong.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A file named for being shared has no subject; two callers have a noun in common, and that is the name.
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|misc)(_|\.|$)")
CODE_SUFFIXES = {".cpp", ".h", ".cu", ".py", ".cmake"}


@dataclass(frozen=True)
class External:
    """Headers of another project, and the folders that may include them."""

    name: str
    prefixes: tuple[str, ...]
    folders: tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """layers.toml, typed."""

    cpp: Mapping[str, Sequence[str]]
    python: Mapping[str, Sequence[str]]
    externals: Sequence[External]
    size: Mapping[str, int]
    long_files: Mapping[str, int]


def read_rules(path: Path) -> Rules:
    """Reads layers.toml; a missing table is a KeyError, since it is our own file."""
    raw = tomllib.loads(path.read_text())
    return Rules(
        cpp=raw["cpp"],
        python=raw["python"],
        externals=[External(e["name"], tuple(e["prefixes"]), tuple(e["folders"])) for e in raw["external"]],
        size=raw["size"],
        long_files={name: int(entry["lines"]) for name, entry in raw["long_files"].items()},
    )


def inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it, both relative with slashes."""
    return path == folder or path.startswith(folder + "/")


def owner(path: str, folders: Mapping[str, Sequence[str]]) -> str | None:
    """The longest folder with an entry that holds `path`."""
    return max((f for f in folders if inside(path, f)), key=len, default=None)


def check_cpp(rules: Rules) -> Iterator[str]:
    """Includes of csrc/: our own by folder, other projects' by prefix."""
    csrc = ROOT / "csrc"
    for path in sorted(p for p in csrc.rglob("*") if p.suffix in {".cpp", ".h", ".cu", ".cuh"}):
        relative = path.relative_to(csrc).as_posix()
        layer = owner(relative, rules.cpp)
        if layer is None:
            yield f"csrc/{relative}:1: the folder has no entry in .ci/layers.toml"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            breach = (
                own_include_breach(match[2], layer, rules)
                if match[1] == '"'
                else external_include_breach(match[2], relative, rules)
            )
            if breach:
                yield f"csrc/{relative}:{number}: {breach}"


def own_include_breach(target: str, layer: str, rules: Rules) -> str | None:
    """Why `layer` may not include our header `target`, or None."""
    found = owner(target, rules.cpp)
    if found is None:
        return f'"{target}" names no folder of csrc/ (paths start at csrc/)'
    if found == layer or any(inside(target, allowed) for allowed in (*rules.cpp[layer], layer)):
        return None
    return f"{layer} may not include {found} (.ci/layers.toml)"


def external_include_breach(target: str, path: str, rules: Rules) -> str | None:
    """Why the file `path` of csrc/ may not include <target>, or None."""
    for external in rules.externals:
        if target.startswith(external.prefixes) and not any(inside(path, f) for f in external.folders):
            return f"<{target}> is {external.name}, which only {', '.join(external.folders)} may include"
    return None


def imported_modules(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything `tree`, a module in `package`, imports; from-imports name each member."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base]) if base else ".".join(parents)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def check_python(rules: Rules) -> Iterator[str]:
    """Imports between the sub-packages of tessiq."""
    package_root = ROOT / "python" / "tessiq"
    for path in sorted(package_root.rglob("*.py")):
        parts = path.relative_to(package_root).parts
        if len(parts) == 1:
            continue
        layer = parts[0]
        shown = path.relative_to(ROOT).as_posix()
        if layer not in rules.python:
            yield f"{shown}:1: the sub-package {layer} has no entry in .ci/layers.toml"
            continue
        package = ".".join(("tessiq", *parts[:-1]))
        for line, module in imported_modules(ast.parse(path.read_text()), package):
            names = module.split(".")
            if names[0] != "tessiq" or len(names) < 2 or names[1] not in rules.python:
                continue
            if names[1] != layer and names[1] not in rules.python[layer]:
                yield f"{shown}:{line}: tessiq.{layer} may not import tessiq.{names[1]} (.ci/layers.toml)"


def source_files() -> Iterator[Path]:
    """Every file that a person writes and reads: code, build files, tests."""
    for top in ("csrc", "python", "tools", "tests", "bench", "cmake", ".ci"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and "generated" not in path.parts and "__pycache__" not in path.parts:
                yield path
    yield ROOT / "dev"


def check_files(rules: Rules) -> Iterator[str]:
    """Lengths, and names that say nothing."""
    for path in source_files():
        shown = path.relative_to(ROOT).as_posix()
        if EMPTY_NAMES.search(path.name):
            yield f"{shown}:1: a file name without a subject"
        if path.suffix in CODE_SUFFIXES or shown == "dev":
            yield from too_long(path, rules.long_files.get(shown, rules.size["code"]))
        elif "golden" in path.parts:
            yield from too_long(path, rules.size["golden"])
    for shown in rules.long_files:
        if not (ROOT / shown).exists():
            yield f".ci/layers.toml:1: long_files names {shown}, which does not exist"
    yield from too_long(ROOT / "ARCHITECTURE.md", rules.size["architecture"])
    for note in sorted((ROOT / "docs" / "design").glob("*.md")):
        yield from too_long(note, rules.size["design_note"])


def too_long(path: Path, limit: int) -> Iterator[str]:
    """A breach where `path` has more than `limit` lines."""
    lines = len(path.read_text(errors="replace").splitlines())
    if lines > limit:
        yield f"{path.relative_to(ROOT).as_posix()}:{limit + 1}: {lines} lines, the limit is {limit}"


def check_architecture() -> Iterator[str]:
    """Each folder of csrc/ and each sub-package of tessiq is described in ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    folders = [p for top in ("csrc", "csrc/codegen", "python/tessiq") for p in sorted((ROOT / top).glob("*/"))]
    for folder in folders:
        shown = folder.relative_to(ROOT).as_posix()
        if folder.name != "__pycache__" and any(folder.rglob("*.*")) and f"`{shown}/" not in text:
            yield f"ARCHITECTURE.md:1: `{shown}/` is not described"


def main() -> int:
    """Runs every check; 1 where any found something."""
    rules = read_rules(Path(__file__).with_name("layers.toml"))
    breaches = [*check_cpp(rules), *check_python(rules), *check_files(rules), *check_architecture()]
    for breach in breaches:
        print(breach)
    print(f"layers: {len(breaches)} breaches" if breaches else "layers: no breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
