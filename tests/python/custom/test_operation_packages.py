"""Operations from outside: the template to copy, and the example package, built as a user would build it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from libraries import LIBRARIES, Counted

import tessiq
from tessiq.compile.graph import Observer, observers
from tessiq.operations import cmake_directory, operations

ROOT = Path(__file__).resolve().parents[3]
OPS = torch.ops.tessiq


def test_the_template_is_an_operation(device: torch.device, counted: Counted) -> None:
    if "_template" not in operations():
        if not (LIBRARIES / "template.so").exists():
            pytest.skip("template.so is not built: ./dev build dev")
        tessiq.load_operations(LIBRARIES / "template.so")
    on_gpu = device.index != 0
    x = torch.randn(300, requires_grad=True)
    ours = x.detach().to(device).requires_grad_()
    with counted("_template", kernel_calls=int(on_gpu), fallbacks=int(not on_gpu)):
        found = OPS._template(ours, 3.0)
    torch.testing.assert_close(found.cpu(), x * 3)
    found.sum().backward()
    torch.testing.assert_close(ours.grad.cpu(), torch.full_like(x, 3))


def test_the_templates_pattern_is_found(device: torch.device, fresh_compiles: None) -> None:
    if "_template" not in operations():
        pytest.skip("template.so is not built: ./dev build dev")
    observer = Observer()
    observers.append(observer)
    try:
        compiled = torch.compile(lambda x: x * 3, backend="tessiq", options={"rewrites": ["_template"]})
        found = compiled(torch.ones(4, device=device))
    finally:
        observers.remove(observer)
    assert [fate["op"] for fate in observer.graphs[0].compiled.fates()] == ["tessiq._template.default"]
    torch.testing.assert_close(found.cpu(), torch.full((4,), 3.0))


def _build(source: Path, build: Path) -> None:
    if shutil.which("cmake") is None or shutil.which("c++") is None:
        pytest.skip("there is no cmake or no C++ compiler here")
    configure = ["cmake", "-S", str(source), "-B", str(build), f"-Dtessiq_DIR={cmake_directory()}"]
    configure.append(f"-DPython_EXECUTABLE={sys.executable}")
    for command in (configure, ["cmake", "--build", str(build)]):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def _copy_template(operations_folder: Path, name: str) -> Path:
    """The first step of CONTRIBUTING: copied, and what is called ``_template`` renamed."""
    folder = operations_folder / name
    shutil.copytree(ROOT / "csrc" / "custom_ops" / "_template", folder)
    (folder / "_template.cu").rename(folder / f"{name}.cu")
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("_template", name))
    return folder


def test_contributings_steps_give_an_operation_of_each_kind(tmp_path: Path, fresh_compiles: None) -> None:
    source = tmp_path / "source"
    _copy_template(source / "operations", "copied_kernel")
    folder = _copy_template(source / "operations", "copied_expression")
    (folder / "copied_expression.cu").unlink()
    definition = folder / "definition.cpp"
    stated = definition.read_text()
    assert stated.count("definition.launch = &launch;") == 1
    definition.write_text(stated.replace("definition.launch = &launch;", 'definition.expression = "$0 * $factor";'))
    example = (ROOT / "examples" / "custom_operation" / "CMakeLists.txt").read_text()
    (source / "CMakeLists.txt").write_text(example)
    _build(source, tmp_path / "build")
    tessiq.load_operations(tmp_path / "build" / "example_operations.so")
    kinds = {name: one.kind for name, one in operations().items() if name.startswith("copied_")}
    assert kinds == {"copied_kernel": "kernel", "copied_expression": "expression"}
    assert "copied_kernel f16" in tessiq.check_operations()
    x = torch.randn(64)
    for operation in (OPS.copied_kernel, OPS.copied_expression):
        torch.testing.assert_close(operation(x.to(tessiq.cpu), 3.0).cpu(), x * 3)
        found = torch.compile(lambda x, of=operation: of(x + 1) * 2, backend="tessiq")(x.to(tessiq.cpu))
        torch.testing.assert_close(found.cpu(), (x + 1) * 4)


def test_the_example_package_builds_and_its_operation_is_fused(tmp_path: Path, fresh_compiles: None) -> None:
    _build(ROOT / "examples" / "custom_operation", tmp_path)
    tessiq.load_operations(tmp_path / "example_operations.so")
    assert operations()["soft_clip"].kind == "expression"
    observer = Observer()
    observers.append(observer)
    x = torch.randn(64)
    try:
        found = torch.compile(lambda x: OPS.soft_clip(x * 4, 0.5) + 1, backend="tessiq")(x.to(tessiq.cpu))
    finally:
        observers.remove(observer)
    assert len(observer.graphs[0].compiled.kernels()) == 1
    torch.testing.assert_close(found.cpu(), 0.5 * torch.tanh(x * 4 / 0.5) + 1)
