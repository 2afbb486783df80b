"""Where bytes lie: results have eager's strides, views share memory, and inputs may lie in any order."""

import pytest
import torch
from ways import Way, same


def strided(way: Way, function: object, *inputs: torch.Tensor) -> None:
    """The compiled result has eager's values and eager's strides."""
    expected = function(*inputs)
    actual = way.compile(function)(*way.send(inputs))
    same(actual, expected)
    for mine, theirs in zip(
        torch.utils._pytree.tree_leaves(actual), torch.utils._pytree.tree_leaves(expected), strict=True
    ):
        assert mine.stride() == theirs.stride()


def test_channels_last_in_channels_last_out(way: Way) -> None:
    x = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    strided(way, lambda x: torch.relu(x) * 2, x)


def test_transposed_result_keeps_its_strides(way: Way) -> None:
    strided(way, lambda x: ((x + 1).t(), torch.tanh(x).permute(1, 0)), torch.randn(3, 5))


def test_transposed_input_is_read_by_its_strides(way: Way) -> None:
    strided(way, lambda x, y: (x * y, x @ y.t()), torch.randn(5, 4).t(), torch.randn(4, 5))


def test_sliced_input_starts_where_the_slice_does(way: Way) -> None:
    strided(way, lambda x: torch.relu(x) + x, torch.randn(6, 8)[1::2, 2:7])


def test_expanded_input_is_read_once_for_every_row(way: Way) -> None:
    strided(way, lambda x, y: (x + y) * x, torch.randn(1, 4).expand(3, 4), torch.randn(3, 4))


def test_layout_may_change_between_calls(way: Way) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x) * 3 - x

    compiled = way.compile(function)
    packed = torch.randn(6, 6)
    for x in (packed, packed.t(), packed[:, ::2], packed.t().contiguous(), packed.expand(6, 6)):
        torch.testing.assert_close(compiled(x.to(way.home)).cpu(), function(x))


def test_contiguous_and_clone_with_a_format_lay_the_bytes_out_anew(way: Way) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.t().contiguous(), x.clone(), (x + 1).t().contiguous() * 2

    strided(way, function, torch.randn(3, 4))


def test_returned_view_of_an_input_shares_its_memory(way: Way) -> None:
    x = torch.randn(4, 6, device=way.home)
    view, value = way.compile(lambda x: (x[1:3].t(), x + 1))(x)
    before = value.clone()
    view.fill_(5)
    assert (x[1:3] == 5).all()
    assert torch.equal(value, before)


def test_input_returned_as_it_is_is_the_same_tensor(way: Way) -> None:
    x = torch.randn(3, device=way.home)
    same_tensor, other = way.compile(lambda x: (x, x * 2))(x)
    assert same_tensor is x
    assert other.data_ptr() != x.data_ptr()


def test_two_results_that_alias_each_other_still_do(way: Way) -> None:
    x = torch.randn(3, 4, device=way.home)
    whole, part = way.compile(lambda x: (lambda y: (y, y[1]))(x * 2))(x)
    part.zero_()
    assert (whole[1] == 0).all()


def test_two_equal_results_do_not_share_memory(way: Way) -> None:
    x = torch.randn(3, device=way.home)
    one, other = way.compile(lambda x: (x + 1, x + 1))(x)
    one.zero_()
    assert torch.equal(other.cpu(), x.cpu() + 1)


def test_results_of_two_calls_do_not_share_memory(way: Way) -> None:
    compiled = way.compile(lambda x: torch.relu(x) + 1)
    first = compiled(torch.ones(8, device=way.home))
    second = compiled(torch.zeros(8, device=way.home))
    assert first.data_ptr() != second.data_ptr()
    assert (first == 2).all()
    assert (second == 1).all()


def test_chunks_halves_and_windows_agree(way: Way) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        left, right = x.chunk(2, 1)
        return left * torch.sigmoid(right), x.unfold(1, 3, 2) + 1, x[:, -1] - x[:, 0], x.flip(0) * 2

    way.check(function, torch.randn(4, 10))


def test_view_of_a_computed_value_after_a_reshape(way: Way) -> None:
    way.check(lambda x: (x * 2).view(3, 2, 4)[1].t() + x.reshape(4, 6)[:, :2].sum(), torch.randn(6, 4))


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 4), (2, 1, 1)])
def test_batched_matrix_multiply_of_permuted_operands(way: Way, shape: tuple[int, int, int]) -> None:
    b, m, k = shape
    way.check(lambda x, y: x.transpose(1, 2) @ y.transpose(1, 2), torch.randn(b, k, m), torch.randn(b, 5, k))


def test_two_arguments_that_share_memory_agree_and_neither_changes(way: Way) -> None:
    base = torch.randn(8, device=way.home)
    before = base.cpu()
    actual = way.compile(lambda x, y: x * 2 + y)(base[:4], base[2:6])
    torch.testing.assert_close(actual.cpu(), before[:4] * 2 + before[2:6])
    assert torch.equal(base.cpu(), before)


def test_concatenation_and_stacking_agree(way: Way) -> None:
    way.check(lambda x, y: (torch.cat([x, y * 2], 1), torch.stack([x, y]) + 1), torch.randn(3, 4), torch.randn(3, 4))


def test_indexing_with_tensors_and_none_agrees(way: Way) -> None:
    way.check(lambda x, i: (x[i], x[:, i], x[i] * 2), torch.randn(5, 5), torch.tensor([3, 0, 3]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.float64])
@pytest.mark.parametrize("shape", [(64, 64), (3, 70, 130), (2, 200, 17), (129, 65, 2)])
def test_permuted_inputs_through_tiles(way: Way, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    """Sizes that fill tiles and sizes that leave them part empty; what lies across, along, and is broadcast."""
    x = torch.randn(shape).to(dtype)
    row = torch.randn(shape[-2]).to(dtype)
    way.check(lambda x: x.transpose(-1, -2).contiguous(), x, exact=True)
    way.check(lambda x, row: (x.transpose(-1, -2) != row) | (x.transpose(-1, -2) == row), x, row, exact=True)
    way.check(lambda x, y: x.transpose(-1, -2) * y, x, x.transpose(-1, -2).contiguous(), exact=True)


def test_positions_under_inner_extents_that_change(way: Way) -> None:
    """Three axes that no operand lets collapse, so that positions are divided by extents of the call."""

    def work(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * a + b
        return y, y.transpose(0, 1).sum(-1)

    compiled = way.compile(work)
    for shape in [(3, 40, 50), (3, 41, 50), (5, 7, 301), (2, 129, 64), (33, 3, 127), (7, 1, 5)]:
        x, a, b = torch.randn(shape), torch.randn(shape[0], 1, shape[2]), torch.randn(shape[1], 1)
        for got, want in zip(compiled(*way.send((x, a, b))), work(x, a, b), strict=True):
            same(got, want)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_tiles_of_sizes_that_change(way: Way, dtype: torch.dtype) -> None:
    """Also where rows of a half type are of odd length or begin between two pairs."""
    compiled = way.compile(lambda x: x.permute(2, 0, 1).contiguous() + 1)
    for shape in [(3, 40, 50), (3, 41, 50), (5, 7, 300), (2, 129, 64), (2, 64, 128), (1, 300, 3), (4, 64, 66)]:
        x = (torch.randn(shape) * 10).to(dtype)
        same(compiled(*way.send((x,))), x.permute(2, 0, 1) + 1)
