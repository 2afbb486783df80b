"""What error rounding explains, and what it does not.

The yardstick is PyTorch's own kernel: both sides round, so each is held against float64, and ours may be wrong by
``FACTOR`` times what PyTorch is wrong by, or by ``ULPS`` units in the last place of the largest value.
"""

from dataclasses import dataclass

import torch

FACTOR = 2
ULPS = 16
FLIPPED = 1e-3
"""Share of elements of a mask or an index that may come out otherwise where they follow from rounded values."""


@dataclass(frozen=True)
class Errors:
    """Of one value, relative to its largest element; for integers and masks the share of elements that differ."""

    ours: float
    eager: float
    allowed: float

    @property
    def beyond(self) -> bool:
        """Whether rounding does not explain ours."""
        return not self.ours <= self.allowed


def errors(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, *, from_floats: bool) -> Errors:
    """Hold a value and PyTorch's own against the exact one.

    Args:
        ours: the value to judge.
        eager: PyTorch's own, of the type and sizes that ours should have.
        exact: the same in float64; integers and masks as they are.
        from_floats: the value follows from floating ones, so that a mask or an index may flip at a boundary.
    """
    if ours.shape != exact.shape or ours.dtype != eager.dtype:
        return Errors(float("inf"), 0.0, 0.0)
    if not ours.dtype.is_floating_point:
        mine, theirs = _share(ours, exact), _share(eager, exact)
        return Errors(mine, theirs, FACTOR * theirs + (FLIPPED if from_floats else 0.0))
    mine, theirs = _relative(ours, exact), _relative(eager, exact)
    return Errors(mine, theirs, max(FACTOR * theirs, ULPS * torch.finfo(ours.dtype).eps))


def _share(value: torch.Tensor, exact: torch.Tensor) -> float:
    return (value != exact).double().mean().item() if value.numel() else 0.0


def _relative(value: torch.Tensor, exact: torch.Tensor) -> float:
    if not value.numel():
        return 0.0
    wide = value.double()
    # The exact value may be finite where the narrow type overflows; PyTorch's own then does as well.
    same = (wide == exact) | (wide.isnan() & exact.isnan())
    difference = torch.where(same, 0.0, (wide - exact).abs())
    if not difference.isfinite().all():
        return float("inf")
    finite = exact[exact.isfinite()].abs()
    scale = finite.max().item() if finite.numel() else 0.0
    largest = difference.max().item()
    return largest / scale if scale else largest
