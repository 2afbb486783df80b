"""Loops that read where an operand says: embedding, index_select, gather, index."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from test_index_maps import OURS, TYPES, check, dynamic, kernels, values
from torch.nn import functional as F
from ways import Way, fates

from tessiq import _C
from tessiq.compile.graph import Observer

aten = torch.ops.aten
Call = Callable[..., torch.Tensor]

POSITION_TYPES = [torch.int64, torch.int32]


def positions(*shape: int, below: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Every position of the axis, in an order of no pattern."""
    return (torch.arange(torch.Size(shape).numel()) * 7 % below).reshape(shape).to(dtype)


# A table of 6 by 8, and positions of three rows by four.
ROWS: dict[str, Call] = {
    "embedding": lambda table, at: F.embedding(at, table),
    "index_select": lambda table, at: torch.index_select(table, 0, at[0]),
    "gather": lambda table, at: torch.gather(table, 1, at.long()),
    "index": lambda table, at: table[:, at],
}


@pytest.mark.parametrize("at", POSITION_TYPES, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_every_type(way: Way, seen: Observer, name: str, dtype: torch.dtype, at: torch.dtype) -> None:
    made = 2 if name == "gather" and at == torch.int32 else 1  # PyTorch's takes int64, so these are cast first
    check(way, seen, ROWS[name], values((6, 8), dtype), positions(3, 4, below=6, dtype=at), kernels_made=made)


@pytest.mark.parametrize("name", ROWS)
def test_what_reads_the_result_is_in_its_loop(way: Way, seen: Observer, name: str) -> None:
    check(way, seen, lambda x, at: torch.relu(ROWS[name](x, at) * 2) + 1, -values((6, 8)), positions(3, 4, below=6))


TABLES: dict[str, Call] = {
    "transposed": lambda x: x.reshape(8, 6).t(),
    "every second": lambda x: torch.stack([x, x], 2).reshape(6, 16)[:, ::2],
    "expanded": lambda x: x[:, :1].expand(6, 8),
    "a part": lambda x: torch.cat([x, x, x])[5:11],
}


@pytest.mark.parametrize("at", ["packed", "transposed", "every second", "expanded"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ROWS)
def test_layouts(way: Way, name: str, table: str, at: str) -> None:
    held = positions(3, 4, below=6)
    if at == "transposed":
        held = positions(4, 3, below=6).t()
    elif at == "every second":
        held = positions(6, 8, below=6)[::2, 1::2]
    elif at == "expanded":
        held = positions(3, 1, below=6).expand(3, 4)
    x = TABLES[table](values((6, 8)))
    actual = way.check(ROWS[name], x, held, exact=True)
    assert isinstance(actual, torch.Tensor)
    if (name, at) != ("index", "transposed"):  # PyTorch's kernel gives other strides there than its trace
        assert actual.stride() == ROWS[name](x, held).stride()


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 3)], ids=str)
def test_embedding_of_positions_of_every_shape(way: Way, seen: Observer, shape: tuple[int, ...]) -> None:
    check(way, seen, lambda w, at: F.embedding(at, w), values((9, 4)), positions(*shape, below=9))


def test_padding_of_an_embedding_is_read_like_any_row(way: Way, seen: Observer) -> None:
    check(way, seen, lambda w, at: F.embedding(at, w, padding_idx=2), values((9, 4)), positions(5, below=9))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("call", [torch.index_select, lambda x, axis, at: torch.gather(x, axis, at)])
def test_every_axis(way: Way, seen: Observer, call: Call, axis: int) -> None:
    x = values((5, 4, 8))
    at = positions(6, below=4)
    if call is not torch.index_select:
        shape = [3, 2, 7]
        at = positions(*shape, below=x.shape[axis])
    check(way, seen, lambda x, at: call(x, axis, at) + 1, x, at)


INDEXED: dict[str, Call] = {
    "one axis": lambda x, i, j: x[i],
    "a later axis": lambda x, i, j: x[:, :, i],
    "two side by side": lambda x, i, j: x[:, i, j],
    "two apart": lambda x, i, j: x[i, :, j],
    "two apart behind one": lambda x, i, j: x[:, i, :, j],
    "all": lambda x, i, j: x[i, j, i, j],
    "broadcast": lambda x, i, j: x[i[:, None], j[:1]],
    "negative": lambda x, i, j: x[-i - 1, :, -1 - j],
}


@pytest.mark.parametrize("name", INDEXED)
def test_index_by_several_positions(way: Way, name: str) -> None:
    x = values((4, 5, 6, 7))
    i, j = positions(2, 3, below=4), positions(1, 3, below=4)
    actual = way.check(INDEXED[name], x, i, j, exact=True)
    assert isinstance(actual, torch.Tensor)
    assert actual.stride() == INDEXED[name](x, i, j).stride()


def test_mask_is_left_to_pytorch(way: Way, seen: Observer) -> None:
    x = values((4, 6))

    def function(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return x[at.bool()].sum(0)

    way.check(function, x, torch.tensor([1, 0, 1, 1]), exact=True)


def test_embeddings_and_a_norm_are_one_kernel(way: Way, seen: Observer) -> None:
    """The first layer of BERT."""

    def function(words: torch.Tensor, types: torch.Tensor, at: torch.Tensor, kind: torch.Tensor) -> torch.Tensor:
        x = F.embedding(at, words) + F.embedding(kind, types)
        return F.layer_norm(x, (64,))

    inputs = values((50, 64)), -values((2, 64)), positions(4, 8, below=50), positions(4, 8, below=2)
    way.check(function, *inputs)
    (call,) = seen.graphs
    assert set(fates(call).values()) <= OURS
    assert kernels(call) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [1, 7, 64, 3000])
def test_sum_of_looked_up_rows(way: Way, seen: Observer, width: int, dtype: torch.dtype) -> None:
    x = (values((9, width)) / 16).to(dtype)
    way.check(lambda w, at: F.embedding(at, w).sum(-1), x, positions(3, 5, below=9))
    (call,) = seen.graphs
    assert kernels(call) == 1


def test_rows_summed_across_positions(way: Way, seen: Observer) -> None:
    way.check(lambda w, at: F.embedding(at, w).sum(1), values((9, 8)), positions(3, 5, below=9))
    (call,) = seen.graphs
    assert set(fates(call).values()) <= OURS


def test_logits_at_targets(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return torch.gather(torch.log_softmax(x, 1), 1, at[:, None])

    way.check(function, torch.randn(16, 50), positions(16, below=50))
    assert set(fates(seen.graphs[0]).values()) <= OURS


def test_loss_without_gradients_writes_numbers_a_row_only(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x, at, reduction="none")

    way.check(function, torch.randn(16, 500), positions(16, below=500))
    (call,) = seen.graphs
    written = [one["bytes_written"] for one in _C.instructions(call.compiled, []) if one["kind"] == "launch"]
    assert written
    assert max(written) <= 4 * 16 * 8  # a few numbers for each of 16 rows


def test_bad_target_is_an_error_though_little_is_computed(host_way: Way) -> None:
    compiled = host_way.compile(lambda x, at: torch.gather(torch.log_softmax(x, 1), 1, at) * 2)
    x = torch.randn(16, 50)
    at = positions(16, 1, below=50)
    at[3] = 50
    with pytest.raises(IndexError, match="index 50 is out of range for an axis of 50 elements"):
        compiled(*host_way.send((x, at)))


def test_lookups_in_a_cat_stay_in_their_windows(way: Way, seen: Observer) -> None:
    def function(w: torch.Tensor, at: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([F.embedding(at, w) * 2, x, F.embedding(at[:2], w)])

    check(way, seen, function, values((9, 8)), positions(5, below=9), values((3, 8)))


def test_table_and_positions_computed_before_are_in_memory(way: Way, seen: Observer) -> None:
    def function(w: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return F.embedding((at + 1) % 9, w * 2) + F.embedding(at, w * 2)

    way.check(function, values((9, 8)), positions(5, below=9), exact=True)
    assert set(fates(seen.graphs[0]).values()) <= OURS


def test_result_without_elements_reads_nothing(way: Way) -> None:
    way.check(ROWS["embedding"], values((9, 8)), positions(0, below=9), exact=True)
    way.check(ROWS["embedding"], values((9, 0)), positions(4, below=9), exact=True)
    way.check(ROWS["embedding"], values((0, 8)), positions(0, below=9), exact=True)


@pytest.mark.parametrize("name", ROWS)
def test_symbolic_sizes(way: Way, seen: Observer, name: str) -> None:
    def function(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return ROWS[name](x * 1, at) + 1

    dynamic(way, seen, function, lambda size: (values((6, size + 6)), positions(3, size, below=6)))


def test_symbolic_length_of_the_table(way: Way, seen: Observer) -> None:
    dynamic(
        way, seen, lambda w, at: F.embedding(at, w) + 1, lambda size: (values((size, 8)), positions(3, 4, below=size))
    )


@pytest.fixture
def host_way(way: Way) -> Way:
    if way.device.index != 0:
        pytest.skip("a GPU reports a bad position by an assertion in the kernel, which ends its process's use of it")
    return way


@pytest.mark.parametrize("bad", [-1, 6, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("name", ["embedding", "index_select", "gather"])
def test_position_out_of_range_is_an_error_and_the_next_call_works(host_way: Way, name: str, bad: int) -> None:
    compiled = host_way.compile(lambda x, at: ROWS[name](x, at) + 1)
    x, at = host_way.send((values((6, 6)), positions(3, 4, below=6)))
    wrong = at.clone()
    wrong[0, 2] = bad
    with pytest.raises(IndexError, match=rf"index {bad} is out of range for an axis of 6 elements"):
        compiled(x, wrong)
    torch.testing.assert_close(compiled(x, at).cpu(), ROWS[name](x.cpu(), at.cpu()) + 1, rtol=0, atol=0)


@pytest.mark.parametrize("bad", [-7, 6])
def test_index_wraps_once(host_way: Way, bad: int) -> None:
    compiled = host_way.compile(lambda x, at: x[at] * 2)
    x = values((6, 6))
    with pytest.raises(IndexError, match=f"index {bad} is out of range"):
        compiled(*host_way.send((x, torch.tensor([0, bad]))))
    good = torch.tensor([5, -6, -1])
    torch.testing.assert_close(compiled(*host_way.send((x, good))).cpu(), x[good] * 2, rtol=0, atol=0)


def test_position_out_of_range_in_a_row_that_is_summed(host_way: Way) -> None:
    compiled = host_way.compile(lambda w, at: F.embedding(at, w).sum(-1))
    with pytest.raises(IndexError, match="index 9 is out of range for an axis of 9 elements"):
        compiled(*host_way.send((values((9, 8)), torch.tensor([3, 9]))))


def test_table_without_rows_has_no_position(host_way: Way) -> None:
    compiled = host_way.compile(lambda w, at: F.embedding(at, w) + 1)
    with pytest.raises(IndexError, match="out of range for an axis of 0 elements"):
        compiled(*host_way.send((values((0, 8)), torch.tensor([0]))))


def test_error_of_one_thread_of_several(host_way: Way) -> None:
    compiled = host_way.compile(lambda w, at: F.embedding(at, w) + 1)
    at = torch.zeros(20000, dtype=torch.int64)
    at[19999] = 4
    with pytest.raises(IndexError, match="index 4 is out of range"):
        compiled(*host_way.send((values((4, 64)), at)))


@pytest.mark.gpu
def test_position_out_of_range_on_a_gpu_ends_the_process_use_of_it() -> None:
    """In a process of its own: what follows the assertion is an error of every call."""
    import subprocess
    import sys

    program = """
import torch, tessiq
at = torch.tensor([0, 6], device="tessiq:1")
w = torch.ones(6, 64, device="tessiq:1")
call = torch.compile(lambda w, at: torch.nn.functional.embedding(at, w) + 1, backend="tessiq")
try:
    print(call(w, at).cpu())
except RuntimeError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert "refused:" in done.stdout, done.stdout + done.stderr
    assert "index is out of range" in done.stderr + done.stdout


def test_every_lookup_of_the_table_is_tested_here() -> None:
    rows = tomllib.loads((Path(__file__).resolve().parents[3] / "ops.toml").read_text())["op"]
    assert set(ROWS) <= {row["name"] for row in rows if "index_map" in row}
