"""Every loop of ops.toml against PyTorch on the CPU, over the values that tell one function from another.

A call is made from the operator's own schema, PyTorch says what it gives, and the generated C++ of the same node has to
give it too. All loops of one element type are compiled as one file.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
NAMES = {
    torch.bool: "bool",
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}
ROWS = [row for row in tomllib.loads((ROOT / "ops.toml").read_text())["op"] if "expression" in row or "cases" in row]
OPERATORS = [(row["name"], spelling) for row in ROWS for spelling in row["aten"] if spelling.startswith("aten.")]

# Arguments that choose another formula, beside those made from the schema. None in the tuple is Python's None.
Call = tuple[tuple[object, ...], dict[str, object]]
MORE_CALLS: dict[str, list[Call]] = {
    "aten.add.Tensor": [(("t", "t"), {"alpha": 2}), (("t", 3), {})],
    "aten.sub.Tensor": [(("t", "t"), {"alpha": 3}), ((1, "t"), {})],
    "aten.rsub.Tensor": [(("t", "t"), {"alpha": 2})],
    "aten.add.Scalar": [(("t", 2, 3), {})],
    "aten.rsub.Scalar": [(("t", 2, 3), {})],
    "aten.mul.Tensor": [(("t", 0.5), {})],
    "aten.lt.Scalar": [(("t", 0.5), {}), (("t", -1), {})],
    "aten.eq.Scalar": [(("t", 1), {}), (("t", float("nan")), {})],
    "aten.ge.Scalar": [(("t", 1.5), {})],
    "aten.addcmul.default": [(("t", "t", "t"), {"value": 2})],
    "aten.addcdiv.default": [(("t", "t", "t"), {"value": 0.5})],
    "aten.pow.Tensor_Scalar": [(("t", e), {}) for e in (0, 1, 2, 3, 4, 0.5, -0.5, -1.0, -2.0, 2.0, 1.5, -3.0, 0.25)],
    "aten.pow.Scalar": [((b, "t"), {}) for b in (1, 2, 0.0, -1.0, 2.5)],
    "aten.clamp.default": [(("t", 0, None), {}), (("t", None, 1), {}), (("t", -1, 1), {}), (("t", 1, -1), {})],
    "aten.clamp.Tensor": [(("t", "t", None), {}), (("t", None, "t"), {}), (("t", "t", "t"), {})],
    "aten.div.Tensor_mode": [(("t", "t"), {"rounding_mode": m}) for m in ("floor", "trunc")],
    "aten.div.Scalar_mode": [(("t", d), {"rounding_mode": m}) for m in ("floor", "trunc") for d in (3, -2)],
    "aten.remainder.Scalar": [(("t", d), {}) for d in (3, -3, 0.75)],
    "aten.fmod.Scalar": [(("t", d), {}) for d in (3, -3, 0.75)],
    "aten.gelu.default": [(("t",), {"approximate": a}) for a in ("none", "tanh")],
    "aten.gelu_backward.default": [(("t", "t"), {"approximate": a}) for a in ("none", "tanh")],
    "aten.leaky_relu.default": [(("t", 0.25), {})],
    "aten.elu.default": [(("t", 1.5), {}), (("t", 1.5, 2.0, 0.5), {})],
    "aten.softplus.default": [(("t", 2.0, 5.0), {})],
    "aten.hardtanh.default": [(("t", -2.0, 0.5), {})],
    "aten.full.default": [(([4], 2), {"dtype": "t"})],
    "aten.scalar_tensor.default": [((3,), {"dtype": "t"})],
    "aten._to_copy.default": [(("t",), {"dtype": dtype}) for dtype in NAMES],
}
# Made only by the list above.
ONLY_LISTED = {
    *("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.clamp.default", "aten.clamp.Tensor"),
    *("aten.full.default", "aten.scalar_tensor.default", "aten.zeros.default", "aten.ones.default"),
}
# PyTorch refuses integers divided by zero; the loops give a number and do not trap (csrc/optable/intrinsics.md).
DIVIDES = {"div_mode", "floor_divide", "remainder", "fmod"}
# Arithmetic, choices and questions have one right answer; the rest is as good as the library that computes it.
APPROXIMATE = re.compile(r"exp|log|sin|cos|tan|erf|gamma|pow|hypot|sigmoid|gelu|silu|soft|mish|elu|sqrt|lerp|hard|addc")


# A zero's sign that PyTorch's own scalar and vector kernels do not agree on.
SIGN_OF_ZERO_OPEN = re.compile(r"aten\.(fmax|fmin|clamp(_min|_max)?\.Tensor|gelu_backward)")
# Where PyTorch's vector kernels leave the formula at the ends of the range: a fused multiply-add does not overflow in
# its middle, and the vector erf and fmod give NaN for what the C library computes.
MODERATE_ONLY = {"add", "sub", "rsub", "addcmul", "remainder", "fmod", "sigmoid_backward", "gelu", "gelu_backward"}
# PyTorch divides half types in half types; the loops divide in float32, which may fall to the other side of a whole
# number. Half types also go through pow where wider ones go through sqrt.
WIDER_THAN_PYTORCH = {"div_mode", "floor_divide", "pow"}
# Rows that a call of this type reaches and no loop computes.
ROUNDS_INTEGERS = ["ceil", "floor", "round", "trunc"]
DECLINED: dict[torch.dtype, list[str]] = {
    torch.bool: ["clamp", "clamp_max", "clamp_min"],
    **dict.fromkeys((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), ROUNDS_INTEGERS),
    torch.float16: ["nextafter"],
    torch.bfloat16: ["nextafter"],
}


def special_values(dtype: torch.dtype) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        ends = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, info.max, info.min, info.tiny, info.eps]
        values = [1.0, -1.0, 0.5, -0.5, 1.5, 2.0, 2.5, -2.5, 3.0, -3.0, 6.0, 7.0, -7.25, 20.0, 25.0, -30.0, 0.3, -0.7]
        values = [*ends, *values]
        return torch.tensor(values, dtype=torch.float64).to(dtype)
    info_int = torch.iinfo(dtype)
    values_int = {info_int.min, info_int.max, 0, 1, 2, 3, 5, 7, 8, 17, 100}
    if info_int.min < 0:
        values_int |= {-1, -2, -3, -5, -7, -100}
    return torch.tensor(sorted(values_int), dtype=dtype)


def operands(count: int, dtype: torch.dtype) -> list[torch.Tensor]:
    """Every pair of special values; a third operand runs through them at another pace."""
    values = special_values(dtype)
    if count == 1:
        return [values]
    first = values.repeat_interleave(len(values))
    second = values.repeat(len(values))
    third = values[torch.arange(len(first)) * 7 % len(values)]
    return [first, second, third, values[torch.arange(len(first)) * 11 % len(values)]][:count]


def calls_of(spelling: str) -> list[Call]:
    from_schema: list[object] = []
    for argument in operator_of(spelling)._schema.arguments:
        if argument.has_default_value() or argument.kwarg_only:
            break
        kind = str(argument.type)
        from_schema.append("t" if kind == "Tensor" else True if kind == "bool" else 2)
    listed = MORE_CALLS.get(spelling, [])
    return listed if spelling in ONLY_LISTED else [(tuple(from_schema), {}), *listed]


class Case:
    """One call: what PyTorch gives for it, and the node that has to give the same."""

    def __init__(self, row: str, spelling: str, call: Call, dtype: torch.dtype) -> None:
        arguments, keywords = call
        self.row = row
        tensors = operands(sum(isinstance(argument, str) for argument in arguments), dtype)
        if row in DIVIDES and not dtype.is_floating_point:
            # PyTorch's process ends in a trap where the smallest integer is divided by -1.
            smallest = False if dtype == torch.bool else torch.iinfo(dtype).min
            runs = (tensors[-1] != 0) & ((tensors[0] != smallest) | (tensors[-1] != -1))
            tensors = [one[runs] for one in tensors]
        if row in MODERATE_ONLY and dtype.is_floating_point:
            moderate = torch.ones(tensors[0].shape, dtype=torch.bool)
            for one in tensors:
                moderate &= one.isnan() | (one == 0) | ((one.abs() < 1e3) & (one.abs() > 1e-2))
            tensors = [one[moderate] for one in tensors]
        conditions = {"where": [0], "masked_fill": [1]}.get(row, [])
        self.tensors = [one != 0 if i in conditions else one for i, one in enumerate(tensors)]
        keywords = {key: dtype if value == "t" else value for key, value in keywords.items()}
        supply = iter(self.tensors)
        given = [next(supply) if isinstance(argument, str) else argument for argument in arguments]
        self.expected: torch.Tensor = operator_of(spelling)(*given, **keywords)
        self.title = f"{spelling}({', '.join(str(argument) for argument in arguments)}, {keywords}) on {NAMES[dtype]}"
        constants = {str(i): argument for i, argument in enumerate(arguments) if not isinstance(argument, str)}
        constants |= {key: NAMES[v] if isinstance(v, torch.dtype) else v for key, v in keywords.items()}
        braces = ", ".join(f"{key} = {attribute_text(value)}" for key, value in constants.items())
        self._node = (spelling, f" {{{braces}}}" if braces else "")

    def parameters(self, index: int) -> list[str]:
        return [f"%c{index}_{i}: {type_text(one)}" for i, one in enumerate(self.tensors)]

    def statement(self, index: int) -> str:
        spelling, attributes = self._node
        values = ", ".join(f"%c{index}_{i}" for i in range(len(self.tensors)))
        return f"  %c{index}: {type_text(self.expected)} = {spelling}({values}){attributes}"

    def run(self, library: ctypes.CDLL, entry: str, reads: list[int]) -> torch.Tensor:
        result = torch.zeros(self.expected.shape, dtype=self.expected.dtype)
        tensors = [self.tensors[i].contiguous() for i in reads]
        pointers = (ctypes.c_void_p * (len(tensors) + 1))(*[one.data_ptr() for one in tensors], result.data_ptr())
        getattr(library, entry)(pointers, None, ctypes.c_int64(0), ctypes.c_int64(result.numel()))
        return result


def operator_of(spelling: str) -> torch._ops.OpOverload:
    namespace, name, overload = spelling.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload)


def type_text(tensor: torch.Tensor) -> str:
    return f"{NAMES[tensor.dtype]}[{', '.join(str(size) for size in tensor.shape)}]"


def attribute_text(value: object) -> str:
    if value is None:
        return "none"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def cases_of(dtype: torch.dtype) -> list[Case]:
    cases = []
    is_half = dtype in (torch.float16, torch.bfloat16)
    for row, spelling in OPERATORS:
        if is_half and row in WIDER_THAN_PYTORCH:
            continue
        for call in calls_of(spelling):
            try:
                case = Case(row, spelling, call, dtype)
            except (RuntimeError, NotImplementedError, TypeError, ZeroDivisionError):
                continue  # no call of this type to PyTorch
            if case.expected.dtype in NAMES:
                cases.append(case)
    return cases


def driver() -> Path:
    named = os.environ.get("TESSIQ_OPT")
    found = [Path(named)] if named else sorted(ROOT.glob("build/*/tessiq-opt"), key=lambda path: path.stat().st_mtime)
    if not found or shutil.which("c++") is None:
        pytest.skip("needs tessiq-opt (./dev build, or TESSIQ_OPT) and a C++ compiler")
    return found[-1]


def loops_of(cases: list[Case], folder: Path) -> tuple[ctypes.CDLL, dict[int, tuple[str, list[int]]]]:
    """The compiled loops, and by case the entry and which operands it reads, in its order."""
    parameters = ", ".join(text for i, case in enumerate(cases) for text in case.parameters(i))
    statements = "\n".join(case.statement(i) for i, case in enumerate(cases))
    returns = ", ".join(f"%c{i}" for i in range(len(cases)))
    graph = f"graph @main({parameters}) {{\n{statements}\n  return {returns}\n}}\n"
    # The passes that leave every case a loop of its own.
    passes = "mark-supported,layout-assign,cluster,place-clusters,fuse-elementwise"
    run = subprocess.run(
        [driver(), "--unclaimed", "device", "--passes", passes, "--emit", "host", "-"],
        input=graph,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    units: dict[str, str] = {}
    loops: dict[int, tuple[str, list[int]]] = {}
    for number, text in enumerate(re.split(r"^// group \d+:", run.stdout, flags=re.MULTILINE)[1:]):
        index = int(re.match(r" %c(\d+)\n", text)[1])  # type: ignore[index]
        entry = re.search(r'extern "C" void (\w+)\(', text)[1]  # type: ignore[index]
        read = re.search(r"void element\(([^)]*)\)", text)[1]  # type: ignore[index]
        loops[index] = (entry, [int(name) for name in re.findall(rf"v_c{index}_(\d+)", read)])
        own = re.sub(r"\bnamespace tessiq\b", f"namespace unit{number}", text.partition("\n")[2])
        units.setdefault(entry, own.replace("tessiq::", f"unit{number}::"))
    source = folder / "loops.cpp"
    source.write_text("\n".join(units.values()))
    flags = ["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno"]
    subprocess.run(["c++", *flags, str(source), "-o", str(folder / "loops.so")], check=True)
    return ctypes.CDLL(str(folder / "loops.so")), loops


def difference(case: Case, actual: torch.Tensor) -> str:
    approximate = APPROXIMATE.search(case.row) or "alpha" in case.title
    exact = not (case.expected.dtype.is_floating_point and approximate)
    try:
        torch.testing.assert_close(
            actual, case.expected, equal_nan=True, **({"rtol": 0, "atol": 0} if exact else {}), check_stride=False
        )
    except AssertionError as error:
        wrong = ~torch.isclose(actual.double(), case.expected.double(), rtol=0, atol=0, equal_nan=True)
        at = int(wrong.flatten().nonzero()[0])
        read = [one.flatten()[at].item() if one.dim() else one.item() for one in case.tensors]
        first = f"first at {read}: {actual.flatten()[at].item()}, PyTorch {case.expected.flatten()[at].item()}"
        return f"{case.title}: {first}: {str(error).splitlines()[2:4]}"
    zeros = (case.expected == 0) & case.expected.dtype.is_floating_point
    turned = bool((torch.signbit(actual) != torch.signbit(case.expected))[zeros].any())
    if turned and not SIGN_OF_ZERO_OPEN.match(case.title):
        return f"{case.title}: a zero has the other sign"
    return ""


@pytest.mark.parametrize("dtype", NAMES, ids=NAMES.values())
def test_every_loop_gives_what_pytorch_gives(dtype: torch.dtype, tmp_path: Path) -> None:
    cases = cases_of(dtype)
    library, loops = loops_of(cases, tmp_path)
    unclaimed = sorted({case.row for i, case in enumerate(cases) if i not in loops})
    differences = [difference(cases[i], cases[i].run(library, entry, reads)) for i, (entry, reads) in loops.items()]
    assert [one for one in differences if one] == []
    assert unclaimed == DECLINED.get(dtype, [])
    assert len(loops) > 40
