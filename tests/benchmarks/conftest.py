"""Torch's settings are put back after each test."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[2]))


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
