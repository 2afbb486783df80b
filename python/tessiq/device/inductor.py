"""What PyTorch's default compiler finds for this device: a sentence that says which backend to name.

Inductor looks on a device's module for the classes that schedule and write its code. Having none ends in an assertion
about an unsupported device; these say what to do instead.
"""

from typing import NoReturn

SENTENCE = 'PyTorch\'s default backend does not compile for tessiq tensors: use torch.compile(model, backend="tessiq")'


class Scheduling:
    """Stands where Inductor expects the class that turns fused loops into kernels."""

    def __init__(self, *_: object) -> None:
        raise RuntimeError(SENTENCE)


class PythonWrapperCodegen:
    """Stands where Inductor expects the class that writes the code around kernels."""

    supports_caching = False  # asked before anything is compiled

    @staticmethod
    def create(*_: object) -> NoReturn:
        """Raises the sentence."""
        raise RuntimeError(SENTENCE)


CppWrapperCodegen = PythonWrapperCodegen
WrapperFxCodegen = PythonWrapperCodegen
