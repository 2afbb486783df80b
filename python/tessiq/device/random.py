"""Seeds and random state. Every device has a generator of its own; the same seed gives the same numbers on each.

Seeding before any device has been used is remembered and looks for no hardware.
"""

from collections.abc import Iterable

import torch

from tessiq import _C
from tessiq.device.names import DeviceLike, index_of


def _get_generator(device: torch.device | None = None) -> torch.Generator:
    return _C.default_generator(index_of(device))


def get_rng_state(device: DeviceLike = None) -> torch.Tensor:
    """The state of a device's generator: sixteen bytes, seed and offset."""
    return _C.default_generator(index_of(device)).get_state()


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = None) -> None:
    """Put a device's generator into a state that get_rng_state gave, of this or another tessiq device."""
    _C.default_generator(index_of(device)).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The state of every device, in order of index."""
    return [get_rng_state(index) for index in range(_C.device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Put every device's generator into the state at its index."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seed the current device's generator."""
    _C.default_generator(index_of()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed every device's generator, also those that do not exist yet."""
    _C.seed_all(seed % 2**64)


def seed() -> None:
    """Seed the current device's generator with a number from the system."""
    _C.default_generator(index_of()).seed()


def seed_all() -> None:
    """Seed every device's generator with one number from the system."""
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    """The seed of the current device's generator."""
    return _C.default_generator(index_of()).initial_seed()
