"""What the synchronous client waits with."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")

sleep = time.sleep


def shielded() -> AbstractContextManager[object]:
    """Nobody cancels what is synchronous."""
    return nullcontext()


def blocking(function: Callable[[], T]) -> T:
    """Runs what waits for a disk."""
    return function()
