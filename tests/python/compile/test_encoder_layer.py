"""nn.TransformerEncoderLayer in inference, where PyTorch runs one operator for the whole layer."""

import pytest
import torch
from torch.testing import assert_close
from ways import Way

import tessiq
from tessiq.compile import graph


def _layer(**options: object) -> torch.nn.TransformerEncoderLayer:
    torch.manual_seed(0)
    return torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, **options).eval()


def test_changed_batch_and_length_still_run_compiled(way: Way) -> None:
    layer = _layer()
    inputs = [torch.randn(shape) for shape in ((4, 6, 32), (5, 6, 32), (3, 9, 32))]
    with torch.no_grad():
        expected = [layer(x) for x in inputs]
        observer = graph.Observer()
        graph.observers.append(observer)
        try:
            compiled = way.compile(layer.to(way.home))
            results = [compiled(x.to(way.home)).cpu() for x in inputs]
        finally:
            graph.observers.remove(observer)
    assert observer.uncompiled == []
    assert sum(call.compiled.counters()["calls"] for call in observer.graphs) == len(inputs)
    for got, wanted in zip(results, expected, strict=True):
        assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"norm_first": True, "activation": "gelu"}])
def test_eager_layer_on_the_device_is_decomposed_and_agrees(device: torch.device, options: dict[str, object]) -> None:
    layer = _layer(**options)
    x = torch.randn(4, 6, 32)
    hidden = torch.zeros(4, 6, dtype=torch.bool)
    hidden[1, 4:] = True
    causal = torch.nn.Transformer.generate_square_subsequent_mask(6)
    with torch.no_grad():
        plain, padded, masked = layer(x), layer(x, src_key_padding_mask=hidden), layer(x, src_mask=causal)
        layer.to(device)
        tessiq.reset_fallbacks()
        assert_close(layer(x.to(device)).cpu(), plain, rtol=1e-5, atol=1e-5)
        assert "aten::_transformer_encoder_layer_fwd" not in tessiq.fallbacks()
        got = layer(x.to(device), src_key_padding_mask=hidden.to(device)).cpu()
        # What a hidden position holds is nobody's: PyTorch's own kernel zeroes it and the plain layer does not.
        assert_close(got[~hidden], padded[~hidden], rtol=1e-5, atol=1e-5)
        assert_close(layer(x.to(device), src_mask=causal.to(device)).cpu(), masked, rtol=1e-5, atol=1e-5)
