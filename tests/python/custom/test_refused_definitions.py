"""What an import says of a bad definition: which operation, what is wrong, and what to do."""

import subprocess
import sys
from pathlib import Path

import pytest
from libraries import LIBRARIES

import tessiq

REFUSALS = {
    "schema_that_does_not_parse": "does not parse",
    "schema_of_another_name": 'its schema is that of "another_name": it is named as its folder',
    "reference_with_other_parameters": "the parameters of its reference do not match its schema",
    "reference_that_is_missing": "it has no reference, which runs wherever its kernel cannot",
    "launch_with_other_parameters": "the parameters of its launch function do not match its schema",
    "kernel_file_that_is_missing": "there is no kernel file kernel_file_that_is_missing.cu beside it",
    "kernel_file_beside_an_expression": "there is a kernel file kernel_file_beside_an_expression.cu that nothing",
    "more_than_one_kind": "it declares more than one kind of kernel: give it exactly one of",
    "no_kind_at_all": "it declares no kind of kernel: give it exactly one of",
    "bare_constant": "the constant 0.5 of the expression is a double whatever the element type: write scalar_t(0.5)",
    "bare_whole_constant": "the constant 2 of the expression is an int whatever the element type: write scalar_t(2)",
    "unknown_function": "frobnicate",
    "unknown_name_in_expression": "the expression reads $beta, which is no number among the schema's arguments",
    "expression_reads_another_tensor": "reads $1, and the schema has 1 tensors, the first of which is $0",
    "expression_of_a_text": "an expression reads tensors and then numbers, and its argument mode is str",
    "expression_without_a_tensor": "an expression reads at least one tensor, and the schema has none in front",
    "expression_of_two_results": "an expression gives one new tensor, and the schema has 2: give it a launch function",
    "no_element_types": "it declares no element types",
    "unknown_element_type": "the compiler has no element type ComplexFloat",
    "type_for_no_argument": "it gives an element type to target, which is no tensor of its schema",
    "replaces_a_composite": "Replace one of the operations it breaks into",
    "replaces_what_is_not_there": "it replaces aten::frobnicate, and PyTorch has no such operation",
    "replaces_with_another_schema": "its schema differs from that of aten::_log_softmax, which it replaces",
    "replaces_what_has_a_kernel": "it replaces aten::_softmax, which tessiq or another operation already has a kernel",
    "pattern_that_does_not_parse": "pattern.tir: ",
    "pattern_that_binds_too_little": "the pattern neither binds nor captures the argument y",
    "pattern_with_a_strange_parameter": "the pattern's parameter %z is no tensor argument of the operation",
    "pattern_with_a_strange_capture": "the pattern captures epsilon, which is no number among the",
    "pattern_of_two_results": "a pattern returns exactly one value, and this one returns 2",
    "pattern_beside_two_results": "it has a pattern, and a pattern stands for exactly one new result",
    "pattern_that_computes_nothing": "the pattern returns its parameter %x and computes nothing",
    "pattern_with_an_unread_node": "%s of the pattern is not read by its result",
    "pattern_of_too_many_orders": "the pattern has more than 10 operations whose operands may be swapped",
    "backward_with_other_parameters": "the parameters of its backward do not match its schema",
    "list_of_tensors": "its argument x is a list of tensors, and a kernel takes its tensors one by one",
    "view_as_a_result": "a result of its schema is a view of an argument",
    "number_as_a_result": "it returns int, and results are tensors",
    "writes_and_returns_new": "it writes an argument and returns new tensors as well: give it one or the other",
    "writes_with_a_backward": "it writes an argument in place and has a backward",
    "definition_that_raises": "its definition raised: out of ideas",
    "precompiled_without_host_code": "it declares itself precompiled, which this build of tessiq does not have",
}


@pytest.fixture(scope="module")
def refusals(bad_library: str) -> dict[str, str]:
    return dict(tessiq._C.refused_operations(bad_library))


@pytest.mark.parametrize("name", REFUSALS)
def test_a_bad_definition_is_refused_with_its_name_and_the_problem(refusals: dict[str, str], name: str) -> None:
    assert refusals[name].startswith(f"custom operation {name}: ")
    assert REFUSALS[name] in refusals[name]


def test_every_bad_definition_is_expected_here(refusals: dict[str, str]) -> None:
    assert sorted(refusals) == sorted(REFUSALS)


def test_a_library_with_a_bad_definition_adds_none(bad_library: str) -> None:
    before = set(tessiq.operations.operations())
    with pytest.raises(ValueError, match=r"custom operation \w+: "):
        tessiq.load_operations(bad_library)
    assert set(tessiq.operations.operations()) == before


def test_a_library_that_is_loaded_twice_is_refused(good_operations: None) -> None:
    with pytest.raises(ValueError, match="there is already an operation tessiq::"):
        tessiq.load_operations(LIBRARIES / "good.so")


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"operations .*nothing.so cannot be loaded"):
        tessiq.load_operations(tmp_path / "nothing.so")
    with pytest.raises(NotImplementedError, match="is no library of custom operations: build it with"):
        tessiq.load_operations(tessiq._C.__file__)


def test_a_library_of_another_interface_is_refused(library_of_another_interface: str) -> None:
    with pytest.raises(NotImplementedError, match=r"was built for version 0 for PyTorch 1.0.0 .*: build it again"):
        tessiq.load_operations(library_of_another_interface)


def _said_by(library: str, call: str) -> str:
    """What ``call`` raises in a process that has the library: an operation, once added, stays."""
    script = f"""
import torch, tessiq
tessiq.load_operations({library!r})
try:
    {call}
except Exception as error:
    print(type(error).__name__, error)
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_a_kernel_that_does_not_compile_is_named_with_what_nvrtc_says(broken_library: str) -> None:
    said = _said_by(broken_library, "tessiq.check_operations()")
    if said.startswith("NotImplementedError"):
        pytest.skip(f"there is no NVRTC here: {said}")
    start = (
        "custom operation kernel_that_does_not_compile f32: NVRTC refused the kernel of kernel_that_does_not_compile"
    )
    assert start in said
    assert 'kernel_that_does_not_compile.cu(1): error: identifier "nothing" is undefined' in said


def test_a_reference_that_returns_nothing_is_named(broken_library: str) -> None:
    said = _said_by(broken_library, "torch.ops.tessiq.reference_without_a_result(torch.ones(2))")
    assert said.startswith("RuntimeError the reference of reference_without_a_result returned an undefined tensor")


def test_a_bad_definition_fails_the_import_with_a_message(bad_library: str) -> None:
    # The refusal that a bad definition in tessiq itself would meet: an ImportError, not the end of the process.
    script = f"""
import tessiq
from tessiq import operations, _C
_C.register_operations = lambda: _C.load_operations({bad_library!r})
try:
    operations.register()
except ImportError as error:
    print("refused:", error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("refused: custom operation ")
