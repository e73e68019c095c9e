# Made by `make generate` from _async/download.py; do not edit.
"""Files that are too long to be held."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import BinaryIO

import httpx

from .._download import Transfer, Writable
from .._retry import Deadline, error_is_retryable, retry_after
from ..errors import api_error
from .primitives import blocking, sleep
from .transport import Transport


def download(
    transport: Transport,
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
        return _fetch(transport, path, target, None, transfer, on_progress, deadline)
    whole = Path(target)
    draft = whole.with_name(f"{whole.name}.{secrets.token_hex(4)}.part")
    file = blocking(lambda: draft.open("wb"))
    try:
        transfer = Transfer(transport.retry, transport.base_url, rewindable=True)
        size = _fetch(transport, path, file, file, transfer, on_progress, deadline)
        blocking(file.close)
        blocking(partial(draft.replace, whole))
        return size
    except BaseException:
        # At once, also by a task that is cancelled and so can wait for nothing more.
        file.close()
        draft.unlink(missing_ok=True)
        raise


def stream(transport: Transport, path: str, *, deadline: Deadline) -> Generator[bytes, None]:
    """The bytes of a file as they come. A connection that breaks off is taken up where it broke, without the reader's
    notice.

    Returns:
        once the first bytes are there, so that a refusal is raised here.

    Raises:
        ApiError, UnreachableError: as by `download`.
    """
    transfer = Transfer(transport.retry, transport.base_url, rewindable=False)
    pieces = _pieces(transport, path, transfer, None, deadline)
    first = next(pieces, b"")
    return _after(first, pieces)


def _after(first: bytes, pieces: Generator[bytes, None]) -> Generator[bytes, None]:
    with closing(pieces):
        yield first
        for piece in pieces:
            yield piece


def _fetch(
    transport: Transport,
    path: str,
    target: Writable,
    rewindable: BinaryIO | None,
    transfer: Transfer,
    on_progress: Callable[[int, int | None], object] | None,
    deadline: Deadline,
) -> int:
    with closing(_pieces(transport, path, transfer, rewindable, deadline)) as pieces:
        for piece in pieces:
            blocking(partial(target.write, piece))
            if on_progress is not None:
                on_progress(transfer.received, transfer.total)
    return transfer.received


def _pieces(
    transport: Transport, path: str, transfer: Transfer, rewindable: BinaryIO | None, deadline: Deadline
) -> Generator[bytes, None]:
    while True:
        failure: Exception
        asked: float | None = None
        try:
            with transport.stream(path, transfer.request_headers(), deadline=deadline) as response:
                if response.is_success:
                    if transfer.begin(response.status_code, response.headers) and rewindable is not None:
                        rewindable.seek(0)
                        blocking(rewindable.truncate)
                    for piece in response.iter_bytes():
                        transfer.add(len(piece))
                        yield piece
                        deadline.check()
                    return
                body = response.read()
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
        sleep(pause)
