"""The device's names, indices, module and current device."""

import subprocess
import sys

import pytest
import torch

import tessiq


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A fresh Python, since what is tested happens at import or before first use."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_named_devices():
    assert tessiq.cpu == torch.device("tessiq:0")
    assert tessiq.gpu == torch.device("tessiq:1")
    assert tessiq.is_available()
    assert tessiq.device_count() >= 1


def test_gpu_that_does_not_exist_is_refused_with_the_count_and_the_reason():
    found = tessiq.device_count() - 1
    for ordinal in (found, 99, -1):
        with pytest.raises(ValueError, match=f"no GPU {ordinal}: tessiq found {found}"):
            tessiq.gpu_at(ordinal)


@pytest.mark.gpu
def test_first_gpu_is_index_one():
    assert tessiq.gpu_at(0) == tessiq.gpu


def test_index_that_does_not_exist_is_refused_wherever_it_is_given():
    bad = tessiq.device_count()
    for use in (
        lambda: torch.empty(2, device=f"tessiq:{bad}"),
        lambda: torch.ones(2).to(f"tessiq:{bad}"),
        lambda: torch.tessiq.set_device(bad),
        lambda: torch.tessiq.synchronize(bad),
        lambda: torch.tessiq.memory_stats(bad),
        lambda: torch.tessiq.get_device_properties(bad),
        lambda: torch.tessiq.get_rng_state(bad),
        lambda: torch.Stream(device=f"tessiq:{bad}"),
        lambda: torch.accelerator.set_device_index(bad),
        lambda: torch.load(save_of(torch.ones(2)), map_location=f"tessiq:{bad}"),
    ):
        with pytest.raises((ValueError, RuntimeError), match=f"{bad}"):
            use()
    assert torch.ones(2, device="tessiq").sum().item() == 2.0


def save_of(tensor):
    import io

    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("wrong", ["cuda:0", torch.device("cpu"), 1.5])
def test_device_of_another_type_is_refused(wrong):
    with pytest.raises((ValueError, TypeError)):
        torch.tessiq.set_device(wrong)


def test_device_without_an_index_is_the_current_one(device):
    assert torch.empty(2, device="tessiq").device == device
    assert torch.ones(2).to("tessiq").device == device
    assert torch.ones(2).tessiq().device == device
    assert torch.zeros(3, device=device).new_ones(2).device == device


def test_contexts_restore_the_current_device(device):
    with torch.tessiq.device(0):
        assert torch.tessiq.current_device() == 0
    assert torch.tessiq.current_device() == device.index
    with torch.tessiq.device(None):
        assert torch.tessiq.current_device() == device.index
    with torch.accelerator.device_index(0):
        assert torch.accelerator.current_device_index() == 0
    assert torch.accelerator.current_device_index() == device.index


def test_module_answers_what_pytorch_asks(device):
    module = torch.tessiq
    assert module.is_available()
    assert module.device_count() == tessiq.device_count()
    assert module.current_device() == device.index
    assert isinstance(module.get_device_name(device), str)
    assert module.get_device_properties(device).total_memory > 0
    assert len(module.get_device_capability(device)) == 2
    assert torch.bfloat16 in module.get_amp_supported_dtype()
    assert not module._is_in_bad_fork()
    assert torch.get_device_module("tessiq") is module


def test_tessiq_is_the_accelerator(device):
    assert torch.accelerator.current_accelerator().type == "tessiq"
    assert torch.accelerator.device_count() == tessiq.device_count()
    assert torch.accelerator.is_available()


def test_default_device_applies(device):
    with device:
        assert torch.ones(2).device == device
    assert torch.ones(2).device.type == "cpu"


def test_modules_move_by_method(device):
    model = torch.nn.Linear(2, 2).tessiq()
    assert next(model.parameters()).device == device
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)]).tessiq()
    assert packed.is_tessiq


def test_import_alone_looks_for_no_device():
    done = run("import tessiq, torch; torch.manual_seed(3); print(torch.tessiq.is_initialized())")
    assert done.stdout.split() == ["False"], done.stderr


def test_seed_given_before_first_use_counts():
    code = (
        "import tessiq, torch; torch.manual_seed(3); x = torch.randn(4, device='tessiq:0');"
        "torch.manual_seed(3); print(torch.equal(torch.randn(4, device='tessiq:0').cpu(), x.cpu()))"
    )
    done = run(code)
    assert done.stdout.split() == ["True"], done.stderr


@pytest.mark.parametrize(("built", "found"), [("2.11.0", "2.12.0"), ("2.11.0+cu130", "2.11.1"), ("2.10.0", "2.11.0")])
def test_wrong_pytorch_is_refused_naming_both(built, found):
    from tessiq.device.extension import check_torch_version

    with pytest.raises(ImportError) as caught:
        check_torch_version(built, found)
    assert built in str(caught.value)
    assert found in str(caught.value)


def test_same_release_in_another_build_is_accepted():
    from tessiq.device.extension import check_torch_version

    check_torch_version("2.11.0+cu130", "2.11.0+cpu")


def test_wrong_pytorch_is_refused_before_the_extension_loads():
    done = run("import torch; torch.__version__ = '2.9.1'; import tessiq")
    assert "built for PyTorch 2.11" in done.stderr
    assert "2.9.1" in done.stderr
    assert "ImportError" in done.stderr


@pytest.mark.parametrize("touches_device", [False, True])
def test_forked_child_of_a_process_that_used_the_device(device, touches_device):
    import os

    torch.ones(4, device=device).sum().item()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            assert (torch.ones(3) + 1).tolist() == [2.0, 2.0, 2.0]
            if touches_device:
                torch.ones(3, device=device).sum().item()
            code = 0
        except RuntimeError as error:
            code = 3 if "fork" in str(error) else 1
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status)
    # The reference device works in a child; a GPU says why it cannot.
    assert os.WEXITSTATUS(status) == (3 if touches_device and device.index > 0 else 0)


def test_threads_have_their_own_current_device(device):
    import threading

    seen = []
    worker = threading.Thread(target=lambda: seen.append(torch.tessiq.current_device()))
    worker.start()
    worker.join()
    assert seen == [0]
    assert torch.tessiq.current_device() == device.index


def test_log_lines_reach_their_logger(caplog):
    from tessiq.device import logs

    with caplog.at_level("DEBUG", logger="tessiq"):
        logs.follow_level()
        torch.ones(2, device="tessiq:0").lgamma()
    logs.follow_level()
    assert any(r.name == "tessiq.fallback" and "aten::lgamma.out" in r.getMessage() for r in caplog.records)


def test_torch_logs_variable_shows_debug_lines():
    import os

    done = subprocess.run(
        [sys.executable, "-c", "import tessiq, torch; torch.ones(2, device='tessiq:0').lgamma()"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TORCH_LOGS": "+tessiq"},
    )
    assert "aten::lgamma.out" in done.stderr


def test_kinds_of_device(device):
    assert tessiq._C.device_kind(device.index) == ("host" if device.index == 0 else "cuda")
