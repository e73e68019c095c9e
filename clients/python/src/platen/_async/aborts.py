"""What becomes of a job whose call is aborted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from .._retry import CANCEL_WITHIN, Deadline
from ..errors import PlatenError, is_abort
from .primitives import shielded


@asynccontextmanager
async def cancelling(wanted: bool, cancel: Callable[[Deadline], Any]) -> AsyncIterator[None]:
    """Cancels a job, or a batch, when what is within ends by the will of its caller: its time is over, its task is
    cancelled, or its program is interrupted.

    Args:
        wanted: whether to do so.
        cancel: does it within a deadline.
    """
    try:
        yield
    except BaseException as error:
        if wanted and is_abort(error):
            # As well as it can be done: the caller gets its error in any case.
            with shielded(), suppress(PlatenError):
                await cancel(Deadline(CANCEL_WITHIN))
        raise
