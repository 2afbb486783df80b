"""Random functions of tensors that mean something: from a seed, a list of steps and the inputs they start from.

Values stay near 1, and decisions (comparisons, places of extremes, rounding) are only taken on inputs, which every
evaluation sees bit for bit alike: so two right evaluations agree to rounding, and nothing else has to be allowed for.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

Value = torch.Tensor
FLOATS = (torch.float32, torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8)

SMOOTH: dict[str, Callable[[Value], Value]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "neg": torch.neg,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "softplus": torch.nn.functional.softplus,
    "exp of tanh": lambda x: torch.exp(torch.tanh(x)),
    "log of 1 + square": lambda x: torch.log1p(x * x),
    "sqrt of 1 + square": lambda x: torch.sqrt(1 + x * x),
    "rsqrt of 1 + square": lambda x: torch.rsqrt(1 + x * x),
    "reciprocal of 2 + sigmoid": lambda x: torch.reciprocal(2 + torch.sigmoid(x)),
    "abs": torch.abs,
    "relu": torch.relu,
    "leaky relu": torch.nn.functional.leaky_relu,
    "clamp": lambda x: torch.clamp(x, -0.75, 1.5),
    "half": lambda x: x * 0.5,
    "square": lambda x: torch.tanh(x) ** 2,
}
PAIRS: dict[str, Callable[[Value, Value], Value]] = {
    "add": torch.add,
    "sub": lambda x, y: torch.sub(x, y, alpha=0.5),
    "mul of tanh": lambda x, y: torch.tanh(x) * torch.tanh(y),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "div by 2 + sigmoid": lambda x, y: x / (2 + torch.sigmoid(y)),
    "atan2": lambda x, y: torch.atan2(x, 3 + y.abs()),
    "lerp": lambda x, y: torch.lerp(x, y.to(x.dtype), 0.25),
}
REDUCTIONS: dict[str, Callable[[Value, list[int], bool], Value]] = {
    "mean": lambda x, axes, keep: torch.mean(x, axes, keep),
    "sum of tanh": lambda x, axes, keep: torch.sum(torch.tanh(x), axes, keep) * 0.1,
    "amax": lambda x, axes, keep: torch.amax(x, axes, keep),
    "amin": lambda x, axes, keep: torch.amin(x, axes, keep),
    "logsumexp": lambda x, axes, keep: torch.logsumexp(torch.tanh(x), axes, keep) * 0.2,
    "var": lambda x, axes, keep: torch.var(x, axes, correction=0, keepdim=keep),
    "norm": lambda x, axes, keep: torch.linalg.vector_norm(torch.tanh(x), 2, axes, keep) * 0.2,
}
ALONG: dict[str, Callable[[Value, int], Value]] = {
    "softmax": torch.softmax,
    "log softmax": torch.log_softmax,
    "standardised": lambda x, axis: (x - x.mean(axis, True)) * torch.rsqrt(x.var(axis, correction=0, keepdim=True) + 1),
}
DECISIONS: dict[str, Callable[[Value], Value]] = {
    "> 0": lambda x: x > 0,
    "<= 0.5": lambda x: x <= 0.5,
    "isfinite": torch.isfinite,
    "logical not": torch.logical_not,
}
WHOLE: dict[str, Callable[[Value], Value]] = {
    "floor": torch.floor,
    "round": torch.round,
    "sign": torch.sign,
    "argmax": lambda x: torch.argmax(x, -1, keepdim=True).to(torch.float32) * 0.1,
    "any": lambda x: (x > 1).any(-1, keepdim=True).to(torch.float32),
    "all": lambda x: (x < 2).all(-1, keepdim=True).to(torch.float32),
}
MOST_ELEMENTS = 20_000


@dataclass
class Model:
    """Steps over a growing list of values, the inputs first.

    Attributes:
        steps: name of what each does, for a report, and the function of all values so far that does it.
        results: places of the values that are returned.
    """

    seed: int
    inputs: list[Value] = field(default_factory=list)
    steps: list[tuple[str, Callable[[Sequence[Value]], Value]]] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    def values(self, *inputs: Value) -> list[Value]:
        values = list(inputs)
        for _, step in self.steps:
            values.append(step(values))
        return values

    def __call__(self, *inputs: Value) -> list[Value]:
        values = self.values(*inputs)
        return [values[place] for place in self.results]

    def __str__(self) -> str:
        lines = [
            f"v{i} = {one.dtype} {tuple(one.shape)} strides {tuple(one.stride())}" for i, one in enumerate(self.inputs)
        ]
        lines += [f"v{i + len(self.inputs)} = {name}" for i, (name, _) in enumerate(self.steps)]
        return "\n".join([*lines, "return " + ", ".join(f"v{place}" for place in self.results)])


class Maker:
    """Makes one model: each step is run at once, so that the next one knows shapes and types."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._torch = torch.Generator().manual_seed(seed)
        self._model = Model(seed)
        self._values: list[Value] = []
        self._used: set[int] = set()

    def make(self) -> Model:
        space = [self._random.choice((1, 2, 3, 4, 5, 8, 17, 33, 70)) for _ in range(self._random.randint(1, 4))]
        while math.prod(space) > MOST_ELEMENTS:
            space[space.index(max(space))] //= 2
        for _ in range(self._random.randint(1, 4)):
            self._add_input(space)
        wanted = self._random.randint(2, 14)
        for _ in range(4 * wanted):  # a step that the values do not allow is no step
            if len(self._model.steps) < wanted:
                self._add_step()
        if not self._model.steps:  # integers alone: anything can be cast
            self._cast()
        model = self._model
        first = len(model.inputs)
        unused = [place for place in range(first, len(self._values)) if place not in self._used]
        model.results = sorted({*unused, self._random.randrange(first, len(self._values))})
        return model

    def _add_input(self, space: list[int]) -> None:
        rank = self._random.randint(0, len(space))
        shape = [extent if self._random.random() < 0.8 else 1 for extent in space[len(space) - rank :]]
        dtype = self._random.choice(FLOATS if self._random.random() < 0.85 else (*INTEGERS, torch.bool))
        value = self._laid_out(shape, dtype)
        self._model.inputs.append(value)
        self._values.append(value)

    def _laid_out(self, shape: list[int], dtype: torch.dtype) -> Value:
        def fresh(sizes: Sequence[int]) -> Value:
            if dtype.is_floating_point:
                return torch.randn(tuple(sizes), generator=self._torch).to(dtype)
            return torch.randint(0, 2 if dtype == torch.bool else 5, tuple(sizes), generator=self._torch).to(dtype)

        kind = self._random.random()
        if not shape or kind < 0.5:
            return fresh(shape)
        if kind < 0.7:  # another order of axes
            order = self._random.sample(range(len(shape)), len(shape))
            back = [order.index(axis) for axis in range(len(shape))]
            return fresh([shape[axis] for axis in order]).permute(back)
        if kind < 0.85:  # part of a larger tensor, from an odd element on
            return fresh([extent + 2 for extent in shape])[tuple(slice(1, 1 + extent) for extent in shape)]
        axis = self._random.randrange(len(shape))
        return fresh([1 if i == axis else extent for i, extent in enumerate(shape)]).expand(shape)

    def _pick(self, accept: Callable[[Value], bool]) -> int | None:
        places = [place for place, value in enumerate(self._values) if accept(value)]
        return self._random.choice(places) if places else None

    def _add(self, name: str, step: Callable[[Sequence[Value]], Value], reads: Sequence[int]) -> None:
        value = step(self._values)
        if value.numel() > MOST_ELEMENTS:
            return
        self._model.steps.append((f"{name}({', '.join(f'v{place}' for place in reads)})", step))
        self._values.append(value)
        self._used.update(reads)

    def _add_step(self) -> None:
        kinds = (
            (self._unary, 4),
            (self._pair, 4),
            (self._reduction, 2),
            (self._along, 1),
            (self._decision, 1),
            (self._view, 2),
            (self._cast, 1),
            (self._product, 1),
            (self._joined, 0.5),
        )
        self._random.choices([one for one, _ in kinds], [weight for _, weight in kinds])[0]()

    def _float_place(self, least_rank: int = 0) -> int | None:
        return self._pick(lambda one: one.is_floating_point() and one.dim() >= least_rank)

    def _unary(self) -> None:
        if (place := self._float_place()) is not None:
            name, function = self._random.choice(list(SMOOTH.items()))
            self._add(name, lambda values: function(values[place]), [place])

    def _pair(self) -> None:
        left = self._float_place()
        if left is None:
            return
        shape = self._values[left].shape

        def fits(one: Value) -> bool:
            try:
                torch.broadcast_shapes(one.shape, shape)
            except RuntimeError:
                return False
            return one.is_floating_point()

        right = self._pick(fits)
        assert right is not None
        name, function = self._random.choice(list(PAIRS.items()))
        self._add(name, lambda values: function(values[left], values[right]), [left, right])

    def _reduction(self) -> None:
        place = self._float_place(least_rank=1)
        if place is None:
            return
        rank = self._values[place].dim()
        axes = self._random.sample(range(rank), self._random.randint(1, rank))
        keep = self._random.random() < 0.5
        name, function = self._random.choice(list(REDUCTIONS.items()))
        self._add(f"{name} over {axes} keep {keep}", lambda values: function(values[place], axes, keep), [place])

    def _along(self) -> None:
        if (place := self._float_place(least_rank=1)) is not None:
            axis = self._random.randrange(self._values[place].dim())
            name, function = self._random.choice(list(ALONG.items()))
            self._add(f"{name} along {axis}", lambda values: function(values[place], axis), [place])

    def _decision(self) -> None:
        inputs = len(self._model.inputs)
        place = self._random.randrange(inputs)
        value = self._values[place]
        if self._random.random() < 0.4 and value.is_floating_point() and value.dim() >= 1:
            name, function = self._random.choice(list(WHOLE.items()))
            self._add(name, lambda values: function(values[place]), [place])
            return
        name, decide = self._random.choice(list(DECISIONS.items()))
        other = self._pick(lambda one: one.is_floating_point() and one.shape == value.shape)
        if other is None:
            return
        self._add(
            f"where {name}",
            lambda values: torch.where(decide(values[place]), values[other], values[other] * -0.5),
            [place, other],
        )

    def _view(self) -> None:
        place = self._float_place(least_rank=1)
        if place is None:
            return
        shape = list(self._values[place].shape)
        axis = self._random.randrange(len(shape))
        order = self._random.sample(range(len(shape)), len(shape))
        views: dict[str, Callable[[Value], Value]] = {
            f"permuted {order}": lambda x: x.permute(order),
            f"unsqueezed {axis}": lambda x: x.unsqueeze(axis),
            f"flat from {axis}": lambda x: x.flatten(axis),
            f"every other of {axis}": lambda x: x[(slice(None),) * axis + (slice(None, None, 2),)],
            f"first of {axis}": lambda x: x.select(axis, 0),
            f"without first of {axis}": lambda x: x.narrow(axis, shape[axis] // 2, shape[axis] - shape[axis] // 2),
            f"flipped {axis}": lambda x: x.flip(axis),
        }
        name, view = self._random.choice(list(views.items()))
        self._add(name, lambda values: view(values[place]), [place])

    def _cast(self) -> None:
        place = self._pick(lambda _: True)
        assert place is not None
        is_input = place < len(self._model.inputs)
        dtype = self._random.choice(FLOATS if not is_input or self._random.random() < 0.7 else INTEGERS)
        if not dtype.is_floating_point:
            self._add(f"to {dtype} and back", lambda values: values[place].to(dtype).to(torch.float32), [place])
        else:
            self._add(f"to {dtype}", lambda values: values[place].to(dtype), [place])

    def _product(self) -> None:
        left = self._float_place(least_rank=2)
        if left is None:
            return
        x = self._values[left]
        right = self._pick(lambda one: one.dtype == x.dtype and one.dim() == 2 and one.shape[0] == x.shape[-1])
        if right is not None:

            def product(values: list[torch.Tensor]) -> torch.Tensor:
                # In float64 one of the two may be what a cast to float32 left.
                wide = torch.promote_types(values[left].dtype, values[right].dtype)
                return torch.tanh(values[left].to(wide)) @ torch.tanh(values[right].to(wide)) / 4

            self._add("matmul / 4", product, [left, right])
        else:
            self._add(
                "with its transpose / 4",
                lambda values: torch.tanh(values[left]) @ torch.tanh(values[left]).transpose(-1, -2) / 4,
                [left],
            )

    def _joined(self) -> None:
        if (place := self._float_place(least_rank=1)) is not None:
            axis = self._random.randrange(self._values[place].dim())
            self._add(
                f"joined with its half along {axis}",
                lambda values: torch.cat([values[place], values[place] * 0.5], axis),
                [place],
            )


def random_model(seed: int) -> Model:
    """The model of a seed: the same on every machine with the same PyTorch."""
    return Maker(seed).make()
