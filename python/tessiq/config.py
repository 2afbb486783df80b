"""Settings of this process."""

from typing import Literal, get_args

from tessiq import _C

FallbackMode = Literal["borrow", "cpu", "error"]


class Config:
    """Settings of this process; ``tessiq.config`` is the only one there is.

    ``fallback`` says what may happen to an operator that has no kernel of tessiq's own:

    * ``"borrow"`` (the default): PyTorch's kernel on the tensors' own memory where there is one (CUDA's on a GPU, the
      CPU's on the reference device), else on copies on the host;
    * ``"cpu"``: PyTorch's CPU kernel on copies on the host, on every device;
    * ``"error"``: NotImplementedError.
    """

    __slots__ = ()

    @property
    def fallback(self) -> FallbackMode:
        """What may happen to an operator without a kernel of tessiq's own."""
        return _C.fallback_mode()

    @fallback.setter
    def fallback(self, mode: FallbackMode) -> None:
        choices = get_args(FallbackMode)
        if mode not in choices:
            raise ValueError(f"tessiq.config.fallback is one of {', '.join(map(repr, choices))}, not {mode!r}")
        _C.set_fallback_mode(mode)

    def __repr__(self) -> str:
        return f"tessiq.config(fallback={self.fallback!r})"


config = Config()
