"""Files that are too long to be held."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import BinaryIO

import httpx

from .._download import Transfer, Writable
from .._retry import Deadline, error_is_retryable, retry_after
from ..errors import api_error
from .primitives import blocking, sleep
from .transport import AsyncTransport


async def download(
    transport: AsyncTransport,
    path: str,
    target: str | os.PathLike[str] | Writable,
    *,
    on_progress: Callable[[int, int | None], object] | None,
    deadline: Deadline,
) -> int:
    """Downloads a file. A connection that breaks off is taken up where it broke, where the service can do that; a file
    at a path is begun anew otherwise.

    Args:
        target: a path, where the file appears once it is whole; or an open file, which stays open.
        on_progress: called with the bytes received, and those in all, where the service says so.

    Returns:
        its size in bytes.

    Raises:
        ApiError: the service refuses.
        UnreachableError: it could not be had whole.
        OSError: it could not be written.
    """
    if not isinstance(target, (str, os.PathLike)):
        transfer = Transfer(transport.retry, transport.base_url, rewindable=False)
        return await _fetch(transport, path, target, None, transfer, on_progress, deadline)
    whole = Path(target)
    draft = whole.with_name(f"{whole.name}.{secrets.token_hex(4)}.part")
    file = await blocking(lambda: draft.open("wb"))
    try:
        transfer = Transfer(transport.retry, transport.base_url, rewindable=True)
        size = await _fetch(transport, path, file, file, transfer, on_progress, deadline)
        await blocking(file.close)
        await blocking(partial(draft.replace, whole))
        return size
    except BaseException:
        # At once, also by a task that is cancelled and so can wait for nothing more.
        file.close()
        draft.unlink(missing_ok=True)
        raise


async def stream(transport: AsyncTransport, path: str, *, deadline: Deadline) -> AsyncGenerator[bytes, None]:
    """The bytes of a file as they come. A connection that breaks off is taken up where it broke, without the reader's
    notice.

    Returns:
        once the first bytes are there, so that a refusal is raised here.

    Raises:
        ApiError, UnreachableError: as by `download`.
    """
    transfer = Transfer(transport.retry, transport.base_url, rewindable=False)
    pieces = _pieces(transport, path, transfer, None, deadline)
    first = await anext(pieces, b"")
    return _after(first, pieces)


async def _after(first: bytes, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces):
        yield first
        async for piece in pieces:
            yield piece


async def _fetch(
    transport: AsyncTransport,
    path: str,
    target: Writable,
    rewindable: BinaryIO | None,
    transfer: Transfer,
    on_progress: Callable[[int, int | None], object] | None,
    deadline: Deadline,
) -> int:
    async with aclosing(_pieces(transport, path, transfer, rewindable, deadline)) as pieces:
        async for piece in pieces:
            await blocking(partial(target.write, piece))
            if on_progress is not None:
                on_progress(transfer.received, transfer.total)
    return transfer.received


async def _pieces(
    transport: AsyncTransport, path: str, transfer: Transfer, rewindable: BinaryIO | None, deadline: Deadline
) -> AsyncGenerator[bytes, None]:
    while True:
        failure: Exception
        asked: float | None = None
        try:
            async with transport.stream(path, transfer.request_headers(), deadline=deadline) as response:
                if response.is_success:
                    if transfer.begin(response.status_code, response.headers) and rewindable is not None:
                        rewindable.seek(0)
                        await blocking(rewindable.truncate)
                    async for piece in response.aiter_bytes():
                        transfer.add(len(piece))
                        yield piece
                        deadline.check()
                    return
                body = await response.aread()
            failure = api_error(response.status_code, response.headers, body)
            final = response.status_code != 429 and response.status_code < 500
            asked = retry_after(response.headers)
        except httpx.RequestError as error:
            if deadline.is_over():
                raise deadline.error() from error
            failure = error
            final = not error_is_retryable(error, idempotent=True)
        pause = transfer.pause_after(failure, final=final, asked=asked, give_up_after=transport.give_up_after)
        deadline.check(pause, failure)
        await sleep(pause)
