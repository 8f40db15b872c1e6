"""Kernels in a folder of the test session, and torch's settings put back after each test."""

import os
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[2]))


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory):
    """Kernels are built into a folder of the test session, or into the one that the environment names."""
    with pytest.MonkeyPatch.context() as patch:
        if "TENSOR_RNNS_KERNELS" not in os.environ:
            patch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture(autouse=True)
def settings_of_torch():
    """Threads, denormals and TF32 as they were."""
    threads, tf32 = torch.get_num_threads(), torch.backends.cudnn.allow_tf32
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    torch.backends.cudnn.allow_tf32 = tf32


@pytest.fixture
def cpu():
    """The device of these tests."""
    return torch.device("cpu")
