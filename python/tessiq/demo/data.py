"""Images of handwritten digits to train on."""

from dataclasses import dataclass
from importlib import import_module

import torch


@dataclass(frozen=True)
class Digits:
    """``images`` is (n, 1, 8, 8) between 0 and 1, ``labels`` is (n,)."""

    images: torch.Tensor
    labels: torch.Tensor
    source: str


def load_digits() -> Digits:
    """Scikit-learn's 1797 digits where it is installed, else as many generated: a blurred shape for each, and noise."""
    try:
        bunch = import_module("sklearn.datasets").load_digits()
    except ImportError:
        return generated_digits()
    images = torch.from_numpy(bunch.images).to(torch.float32).unsqueeze(1) / 16
    return Digits(images, torch.from_numpy(bunch.target).to(torch.int64), "scikit-learn digits")


def generated_digits() -> Digits:
    """1797 images of ten random shapes with noise, the same in every run."""
    generator = torch.Generator().manual_seed(11)
    shapes = torch.nn.functional.avg_pool2d(torch.rand(10, 1, 12, 12, generator=generator), 5, stride=1)
    shapes = (shapes - shapes.amin()) / (shapes.amax() - shapes.amin())
    labels = torch.randint(10, (1797,), generator=generator)
    noise = torch.randn(1797, 1, 8, 8, generator=generator) / 8
    return Digits((shapes[labels] + noise).clamp(0, 1), labels, "generated digits")
