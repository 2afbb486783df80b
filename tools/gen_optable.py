"""ops.toml -> csrc/optable/generated/op_rows.cpp and docs/generated/ops.md.

Decides whether a row is well formed, and how it is spelled in C++; what the fields mean is csrc/optable/lookup.h's to
say. Both outputs are checked in. `./dev gen` writes them, `./dev gen --check` fails where they are stale.
"""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generated_files import ROOT, run

CATEGORIES = ("elementwise", "reduction", "movement", "matmul", "copy", "convolution", "creation", "custom")
EFFECTS = ("pure", "random", "writes")
COMPUTE = ("result", "operands")
COMBINE = ("sum", "mean", "product", "maximum", "minimum", "arg_maximum", "arg_minimum", "any", "all")
INDEX_MAPS = (
    *("arange", "concatenate", "flip", "pad", "slice_scatter"),
    *("embedding", "index_select", "gather", "index"),
)
# The order of ir::ElementType; a row's element types are one bit each.
ELEMENT_TYPES = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
TYPE_SETS = {
    "any": ELEMENT_TYPES,
    "number": ELEMENT_TYPES[1:],
    "integral": ELEMENT_TYPES[:6],
    "float": ELEMENT_TYPES[6:],
}
FIELDS = {
    "name": str,
    "aten": list,
    "category": str,
    "kernel": bool,
    "effects": str,
    "arity": int,
    "expression": str,
    "cases": list,
    "compute": str,
    "types": (str, list),
    "bool_arguments": list,
    "parameters": dict,
    "ignored": list,
    "unread": list,
    "commutative": bool,
    "rounds": bool,
    "combine": str,
    "index_map": str,
}

# Functions every emitter's prelude provides: csrc/optable/intrinsics.md. Number of arguments by name.
_UNARY = """exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
erf erfc lgamma floor ceil trunc rint abs_value is_nan is_inf is_finite sign_bit bit_not"""
_BINARY = """atan2 hypot fmod pow copysign nextafter maximum minimum fmax fmin trunc_divide floor_divide trunc_remainder
floor_remainder power shift_left shift_right"""
INTRINSICS = {
    **dict.fromkeys(_UNARY.split(), 1),
    **dict.fromkeys(_BINARY.split(), 2),
    "scalar_t": 1,
}

# Cases over a constant: absent, present, this number, this text.
Test = bool | int | float | str


class RowError(Exception):
    """A row of ops.toml that says something impossible."""


@dataclass(frozen=True)
class Case:
    when: tuple[tuple[str, Test], ...]
    expression: str


@dataclass(frozen=True)
class Row:
    name: str
    aten: tuple[str, ...]
    category: str
    kernel: bool
    effects: str = "pure"
    arity: int = 0
    expression: str = ""
    cases: tuple[Case, ...] = ()
    compute: str = "result"
    types: tuple[str, ...] = ELEMENT_TYPES
    bool_arguments: tuple[int, ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()
    ignored: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()
    commutative: bool = False
    rounds: bool = False
    combine: str = ""
    index_map: str = ""
    line: int = field(default=0, compare=False)

    def expressions(self) -> tuple[str, ...]:
        return tuple(case.expression for case in self.cases) or ((self.expression,) if self.expression else ())


# ---- reading --------------------------------------------------------------------------------------------------------


def require(condition: bool, message: str) -> None:
    if not condition:
        raise RowError(message)


def one_of(value: str, allowed: Sequence[str], what: str) -> str:
    if value not in allowed:
        near = difflib.get_close_matches(value, allowed, 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise RowError(f"{what} {value!r} is none of {', '.join(allowed)}{hint}")
    return value


def read_types(value: str | list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return TYPE_SETS[one_of(value, tuple(TYPE_SETS), "types")]
    for element in value:
        one_of(element, ELEMENT_TYPES, "element type")
    return tuple(element for element in ELEMENT_TYPES if element in value)


def read_cases(cases: list[Mapping[str, object]]) -> tuple[Case, ...]:
    read = []
    for case in cases:
        require(set(case) == {"when", "expression"}, "a case has the fields when and expression, and no other")
        when, expression = case["when"], case["expression"]
        require(isinstance(when, dict) and isinstance(expression, str), "when is a table and expression a string")
        assert isinstance(when, dict)
        assert isinstance(expression, str)
        read.append(Case(tuple(when.items()), expression))
    return tuple(read)


def read_row(raw: Mapping[str, object], line: int) -> Row:
    for key, value in raw.items():
        one_of(key, tuple(FIELDS), "field")
        # bool is an int to Python and not to a reader.
        good = isinstance(value, FIELDS[key]) and not (isinstance(value, bool) and FIELDS[key] is int)  # type: ignore[arg-type]
        require(good, f"{key} has the wrong type: {value!r}")
    for key in ("name", "aten", "category", "kernel"):
        require(key in raw, f"{key} is missing")
    values = dict(raw)
    values["aten"] = tuple(values["aten"])  # type: ignore[arg-type]
    values["types"] = read_types(values.get("types", "any"))  # type: ignore[arg-type]
    values["cases"] = read_cases(values.get("cases", []))  # type: ignore[arg-type]
    values["parameters"] = tuple(values.get("parameters", {}).items())  # type: ignore[attr-defined]
    for key in ("bool_arguments", "ignored", "unread"):
        values[key] = tuple(values.get(key, ()))  # type: ignore[arg-type]
    row = Row(**values, line=line)  # type: ignore[arg-type]
    check_row(row)
    return row


# ---- checking one row -----------------------------------------------------------------------------------------------


def check_expression(row: Row, expression: str) -> set[str]:
    """The arguments an expression reads, as they are written after the dollar."""
    reads = set(re.findall(r"\$(\w+)", expression))
    names = {name for name, _ in row.parameters}
    for read in reads:
        if read.isdigit():
            require(int(read) < row.arity, f"${read} is read, and the arity is {row.arity}")
        else:
            require(read in names, f"${read} is read and is no parameter")
    bare = re.sub(r"scalar_t\(-?[0-9.]+(?:e-?[0-9]+)?\)", "", expression)
    literal = re.search(r"(?<![$\w])[0-9][0-9.]*", bare)
    require(literal is None, f"the literal {literal.group() if literal else ''} has to be written scalar_t(...)")
    for name in re.findall(r"(?<![$\w])([A-Za-z_]\w*)", bare):
        require(name in INTRINSICS, f"{name} is not a function of csrc/optable/intrinsics.md")
    for match in re.finditer(r"(?<![$\w])([A-Za-z_]\w*)\(", expression):
        given = count_arguments(expression, match.end())
        wanted = INTRINSICS[match.group(1)]
        require(given == wanted, f"{match.group(1)} takes {wanted} arguments, and {given} are given")
    require(expression.count("(") == expression.count(")"), "parentheses do not match")
    return reads


def count_arguments(expression: str, start: int) -> int:
    """Arguments of a call whose opening parenthesis ends at `start`."""
    depth, commas = 0, 0
    for character in expression[start:]:
        if character == ")" and depth == 0:
            break
        depth += {"(": 1, ")": -1}.get(character, 0)
        commas += character == "," and depth == 0
    return commas + 1


def check_row(row: Row) -> None:
    require(re.fullmatch(r"[a-z_][a-z0-9_]*", row.name) is not None, "a name is lower case letters, digits and _")
    for spelling in row.aten:
        require(
            re.fullmatch(r"(aten|prims|tessiq)(\.\w+){2}|tessiq\.\w+", spelling) is not None,
            f"{spelling!r} is not an operator",
        )
    one_of(row.category, CATEGORIES, "category")
    one_of(row.effects, EFFECTS, "effects")
    one_of(row.compute, COMPUTE, "compute")
    require(not (row.expression and row.cases), "a row has an expression or cases, not both")
    require(not (row.kernel and row.effects != "pure"), "a kernel of ours has no effects")
    if row.combine:
        one_of(row.combine, COMBINE, "combine")
        require(row.category == "reduction", f"a {row.category} row combines nothing")
    loops = row.category in ("elementwise", "copy", "creation")
    if row.index_map:
        one_of(row.index_map, INDEX_MAPS, "index map")
        require(loops and not row.expressions(), "an index map takes the place of a loop's expression")
    if row.kernel and loops:
        require(bool(row.expressions() or row.index_map), "a loop the backend runs needs an expression or an index map")
    if row.expressions():
        require(loops, f"a {row.category} row has no expression")
        reads = set().union(*(check_expression(row, expression) for expression in row.expressions()))
        for position in range(row.arity):
            unread = position in row.unread
            require((str(position) in reads) != unread, f"argument {position} is {'read' if unread else 'never read'}")
        for name, _ in row.parameters:
            tested = any(key == name for case in row.cases for key, _ in case.when)
            require(name in reads or tested, f"parameter {name} is never read")
    require(not (row.kernel and row.category == "reduction" and not row.combine), "a reduction we run combines")
    for position in (*row.bool_arguments, *row.unread):
        require(0 <= position < row.arity, f"there is no argument {position}")


def check_table(rows: Sequence[Row]) -> None:
    owner: dict[str, Row] = {}
    for row in rows:
        for name in (row.name, *row.aten):
            other = owner.setdefault(name, row)
            if other is not row or (row.name, *row.aten).count(name) > 1:
                raise RowError(f"line {row.line}: {row.name}: {name!r} is taken by {other.name} (line {other.line})")


def read_table(text: str) -> list[Row]:
    document = tomllib.loads(text)
    require(set(document) == {"op"}, "ops.toml holds [[op]] tables and nothing else")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[op]]"]
    rows = []
    for raw, line in zip(document["op"], lines, strict=True):
        try:
            rows.append(read_row(raw, line))
        except RowError as error:
            raise RowError(f"line {line}: {raw.get('name', '(no name)')}: {error}") from None
    check_table(rows)
    return rows


# ---- writing --------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def braces(items: Sequence[str]) -> str:
    return "{" + ", ".join(items) + "}"


def condition(key: str, test: Test) -> str:
    if isinstance(test, bool):
        return f"{{.key = {quoted(key)}, .test = Condition::Test::{'kPresent' if test else 'kAbsent'}}}"
    if isinstance(test, str):
        return f"{{.key = {quoted(key)}, .test = Condition::Test::kText, .text = {quoted(test)}}}"
    return f"{{.key = {quoted(key)}, .test = Condition::Test::kNumber, .number = {float(test)!r}}}"


def parameter(name: str, value: float) -> str:
    return f"{{{quoted(name)}, {float(value)!r}}}"


def mask(bits: Sequence[int]) -> str:
    return hex(sum(1 << bit for bit in bits))


def camel(words: str) -> str:
    return "k" + "".join(word.capitalize() for word in words.split("_"))


def cpp_row(row: Row) -> str:
    """Designated initialisers in the order of OpInfo; fields that hold their default are left out."""
    types = [ELEMENT_TYPES.index(element) for element in row.types]
    cases = [
        f"{{.when = {braces([condition(key, test) for key, test in case.when])},\n"
        f"                 .expression = {quoted(case.expression)}}}"
        for case in row.cases
    ]
    fields = [
        (True, f".name = {quoted(row.name)}"),
        (True, f".aten = {braces([quoted(name) for name in row.aten])}"),
        (True, f".category = Category::{camel(row.category)}"),
        (row.effects != "pure", f".effects = Effects::{camel(row.effects)}"),
        (row.arity > 0, f".arity = {row.arity}"),
        (bool(row.expression), f".expression = {quoted(row.expression)}"),
        (bool(cases), ".cases = {" + ",\n                ".join(cases) + "}"),
        (row.compute != "result", f".compute = ComputeType::{camel(row.compute)}"),
        (bool(row.bool_arguments), f".bool_arguments = {mask(row.bool_arguments)}"),
        (row.kernel, ".kernel = true"),
        (True, f".element_types = {mask(types)}"),
        (bool(row.parameters), f".parameters = {braces([parameter(*entry) for entry in row.parameters])}"),
        (row.commutative, ".commutative = true"),
        (row.rounds, ".rounds = true"),
        (bool(row.combine), f".combine = Combine::{camel(row.combine)}"),
        (bool(row.index_map), f".index_map = IndexMap::{camel(row.index_map)}"),
        (bool(row.ignored), f".ignored_keywords = {braces([quoted(name) for name in row.ignored])}"),
    ]
    return "      {" + ",\n       ".join(text for said, text in fields if said) + "},\n"


def render_cpp(rows: Sequence[Row]) -> str:
    return (
        "// Written by tools/gen_optable.py from ops.toml: never edited.\n"
        '#include "optable/lookup.h"\n\n'
        "namespace tessiq::optable {\n\n"
        "const std::vector<OpInfo>& table_rows() {\n"
        "  static const std::vector<OpInfo> rows = {\n"
        + "".join(cpp_row(row) for row in rows)
        + "  };\n  return rows;\n}\n\n}  // namespace tessiq::optable\n"
    )


def cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def types_cell(row: Row) -> str:
    for name, members in TYPE_SETS.items():
        if row.types == members:
            return name
    return " ".join(row.types)


def render_markdown(rows: Sequence[Row]) -> str:
    run = sum(row.kernel for row in rows)
    lines = [
        "# Operations",
        "",
        "Written by `tools/gen_optable.py` from `ops.toml`: never edited.",
        "",
        f"{len(rows)} rows name {sum(len(row.aten) for row in rows)} operators; {run} rows are run by the backend.",
        "An operation without a row, or whose row is not run, executes through PyTorch.",
    ]
    for category in CATEGORIES:
        members = [row for row in rows if row.category == category]
        if not members:
            continue
        lines += [
            "",
            f"## {category.capitalize()}",
            "",
            "| name | PyTorch | run | types | computes |",
            "|---|---|---|---|---|",
        ]
        for row in members:
            spellings = "<br>".join(cell(name) for name in row.aten)
            computes = "<br>".join(cell(expression) for expression in dict.fromkeys(row.expressions()))
            computes = computes or row.index_map.replace("_", " ")
            lines.append(
                f"| {row.name} | {spellings} | {'yes' if row.kernel else ''} | {types_cell(row)} | {computes} |"
            )
    return "\n".join(lines) + "\n"


def outputs() -> dict[Path, str]:
    """Every file that is made of the table.

    Raises:
        RowError: a row that is not in order.
        tomllib.TOMLDecodeError: a table that is none.
    """
    rows = read_table((ROOT / "ops.toml").read_text())
    return {
        ROOT / "csrc/optable/generated/op_rows.cpp": render_cpp(rows),
        ROOT / "docs/generated/ops.md": render_markdown(rows),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes what is generated from ops.toml; with --check, 1 where it is stale; 1 where the table is not in order."""
    try:
        return run("write what is generated from ops.toml", outputs, arguments)
    except (RowError, tomllib.TOMLDecodeError) as error:
        print(f"ops.toml: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
