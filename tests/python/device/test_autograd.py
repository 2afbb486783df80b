"""Autograd, autocast and operators that end in kernels a backend has to bring."""

import threading

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

import tessiq


def both(device, function, *inputs):
    """Result and gradients of ``function`` on the CPU and on ``device``."""
    results = []
    for where in ("cpu", device):
        leaves = [x.detach().clone().to(where).requires_grad_() for x in inputs]
        out = function(*leaves)
        out.backward(torch.linspace(0.5, 1.5, out.numel()).reshape(out.shape).to(where))
        results.append([out.detach().cpu(), *(leaf.grad.cpu() for leaf in leaves)])
    return results


@pytest.mark.parametrize("shape", ["1d", "2d", "3d", "grouped", "transposed", "channels_last"])
def test_convolution_and_its_gradients_equal_the_cpus(device, fallback, shape):
    torch.manual_seed(0)
    n = {"1d": 1, "3d": 3}.get(shape, 2)
    x = torch.randn(2, 4, *[7] * n)
    w = torch.randn(6, 2 if shape == "grouped" else 4, *[3] * n)
    bias = torch.randn(6)
    conv = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    options = {"padding": 1, "stride": 2, "groups": 2 if shape == "grouped" else 1}
    if shape == "transposed":
        w, conv = torch.randn(4, 6, 3, 3), F.conv_transpose2d
    if shape == "channels_last":
        x, w = x.to(memory_format=torch.channels_last), w.to(memory_format=torch.channels_last)
    want, got = both(device, lambda x, w, b: conv(x, w, b, **options), x, w, bias)
    for g, w_ in zip(got, want, strict=True):
        assert_close(g, w_, rtol=1e-4, atol=1e-4)


def test_convolution_without_bias_and_with_some_gradients(device, fallback):
    x, w = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 3, 3)
    leaf = w.to(device).requires_grad_()
    F.conv2d(x.to(device), leaf).sum().backward()
    host = w.clone().requires_grad_()
    F.conv2d(x, host).sum().backward()
    assert_close(leaf.grad.cpu(), host.grad, rtol=1e-4, atol=1e-4)


def test_convolution_is_in_the_ledger(device, fallback, tier):
    x, w = torch.randn(1, 2, 5, 5, device=device), torch.randn(3, 2, 3, 3, device=device)
    tessiq.reset_fallbacks()
    F.conv2d(x, w)
    assert tessiq.fallbacks()["aten::convolution_overrideable"][tier] == 1


@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradients_equal_the_cpus(device, fallback, causal):
    torch.manual_seed(1)
    qkv = [torch.randn(2, 3, 5, 8) for _ in range(3)]
    want, got = both(device, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), *qkv)
    for g, w in zip(got, want, strict=True):
        assert_close(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "module",
    [
        torch.nn.LayerNorm(6),
        torch.nn.Softmax(-1),
        torch.nn.GELU(),
        torch.nn.Linear(6, 3),
        torch.nn.Bilinear(6, 6, 2),
        torch.nn.LSTM(6, 4),
        torch.nn.GRU(6, 4),
        torch.nn.MultiheadAttention(6, 2),
        torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0),
        torch.nn.BatchNorm1d(6),
        torch.nn.AdaptiveAvgPool1d(3),
    ],
    ids=lambda m: type(m).__name__,
)
def test_module_and_gradients_equal_the_cpus(device, fallback, module):
    torch.manual_seed(2)
    x = torch.randn(4, 5, 6)
    if isinstance(module, torch.nn.BatchNorm1d):
        x = x.reshape(20, 6)
    import copy

    outputs = []
    for where in ("cpu", device):
        m = copy.deepcopy(module).to(where)
        leaf = x.clone().to(where).requires_grad_()
        arguments = {torch.nn.Bilinear: 2, torch.nn.MultiheadAttention: 3}.get(type(module), 1)
        out = m(*[leaf] * arguments)
        out = out[0] if isinstance(out, tuple) else out
        (out * out).sum().backward()
        outputs.append([out.detach().cpu(), leaf.grad.cpu(), *(p.grad.cpu() for p in m.parameters())])
    for got, want in zip(outputs[1], outputs[0], strict=True):
        assert_close(got, want, rtol=1e-3, atol=1e-5)


def test_second_derivative(device, fallback):
    x = torch.linspace(0.1, 1, 5).to(device).requires_grad_()
    (grad,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(grad.sum(), x)
    assert_close(second.cpu(), 6 * torch.linspace(0.1, 1, 5))


def test_in_place_change_of_a_saved_tensor_is_caught(device):
    x = torch.ones(3, device=device, requires_grad=True)
    y = torch.exp(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_backward_on_another_thread(device):
    grads = []

    def work():
        w = torch.arange(1.0, 6.0, device=device).requires_grad_()
        (w * w).sum().backward()
        grads.append(w.grad.cpu())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert_close(grads[0], 2 * torch.arange(1.0, 6.0))


def test_backward_of_plain_cpu_tensors_still_works():
    w = torch.arange(3.0).requires_grad_()
    (w * w).sum().backward()
    assert_close(w.grad, 2 * torch.arange(3.0))


def test_eight_threads_get_their_own_answers(device, fallback):
    w = torch.randn(24, 24)
    dw = w.to(device)
    errors = []

    def go(seed):
        try:
            generator = torch.Generator().manual_seed(seed)
            for _ in range(10):
                x = torch.randn(5, 24, generator=generator)
                assert_close(
                    (torch.tanh(x.to(device) @ dw).softmax(1)).cpu(), torch.tanh(x @ w).softmax(1), rtol=1e-3, atol=1e-4
                )
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=go, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors, errors[0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_lowers_what_pytorchs_lists_say(device, fallback, dtype):
    x, w = torch.randn(4, 6, device=device), torch.randn(6, 3, device=device)
    with torch.autocast("tessiq", dtype=dtype):
        assert (x @ w).dtype == dtype
        assert torch.exp(x @ w).dtype == torch.float32
        assert torch.softmax(x @ w, -1).dtype == torch.float32
        assert torch.cat([x, x.to(dtype)]).dtype == torch.float32
        assert (x + x).dtype == torch.float32
    assert (x @ w).dtype == torch.float32


def test_autocast_refuses_plain_cross_entropy_of_probabilities(device):
    p = torch.full((3,), 0.5, device=device)
    with torch.autocast("tessiq", dtype=torch.float16), pytest.raises(RuntimeError, match="binary_cross_entropy"):
        F.binary_cross_entropy(p, p)


def test_autocast_of_an_unsupported_type_warns(device):
    with (
        pytest.warns(UserWarning, match=r"tessiq.*autocast|autocast.*not supported|Disabling"),
        torch.autocast("tessiq", dtype=torch.float64),
    ):
        pass


def test_grad_scaler_scales_steps_and_skips_infinities(device, fallback):
    weight = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("tessiq", init_scale=4.0, growth_interval=100)
    scaler.scale(weight.sum()).backward()
    assert_close(weight.grad.cpu(), torch.full((3,), 4.0))
    scaler.step(optimizer)
    scaler.update()
    assert_close(weight.detach().cpu(), torch.zeros(3))
    optimizer.zero_grad()
    scaler.scale(weight.sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert_close(weight.detach().cpu(), torch.zeros(3))
    assert scaler.get_scale() == 2.0
