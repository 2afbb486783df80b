"""The ledger of operators that had no kernel of tessiq's own."""

from tessiq import _C


def fallbacks() -> dict[str, dict[str, int]]:
    """How often each operator fell back since the last reset, by name.

    ``borrow`` counts runs of PyTorch's CUDA kernel on the device's own memory, ``cpu`` runs of PyTorch's CPU kernel:
    on the reference device's own memory, or on copies.
    """
    return _C.fallback_counts()


def reset_fallbacks() -> None:
    """Empty the ledger."""
    _C.reset_fallback_counts()
