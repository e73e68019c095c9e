"""What the asynchronous client waits with. It runs on asyncio and on trio, by anyio, as httpx does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

sleep = anyio.sleep


def shielded() -> AbstractContextManager[object]:
    """Within it, what a task that is cancelled still has to do can be waited for."""
    return anyio.CancelScope(shield=True)


async def blocking(function: Callable[[], T]) -> T:
    """Runs what waits for a disk in a thread, so that the event loop does not."""
    return await anyio.to_thread.run_sync(function)
