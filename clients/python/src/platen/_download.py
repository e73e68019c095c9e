"""What is decided while a file is downloaded, which may take several connections."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from ._retry import Retry
from .errors import PlatenError, UnreachableError

#: How often a file is begun anew that the service cannot go on with from where it broke off.
_MOST_RESTARTS = 3


class Writable(Protocol):
    """What bytes can be written to, such as a file that is open for writing in binary mode."""

    def write(self, data: bytes, /) -> object: ...


class Transfer:
    """How far a download has got.

    Args:
        base_url: of the service, for errors.
        rewindable: whether what was written can be taken back.
    """

    def __init__(self, retry: Retry, base_url: str, *, rewindable: bool) -> None:
        self.received = 0
        """Bytes that are here."""
        self.total: int | None = None
        """Bytes in all; None where the service does not say."""
        self._retry = retry
        self._base_url = base_url
        self._rewindable = rewindable
        self._restarts = 0
        self._etag: str | None = None
        self._attempts = 0
        """Since the last byte that was received."""
        self._last_received_at = time.monotonic()

    def request_headers(self) -> dict[str, str]:
        """For the next attempt: only what is missing, as long as the service has the very same bytes still."""
        self._attempts += 1
        # Offsets are those of the file itself.
        plain = {"Accept-Encoding": "identity"}
        if self.received == 0 or self._etag is None:
            return plain
        return {**plain, "Range": f"bytes={self.received}-", "If-Range": self._etag}

    def begin(self, status: int, headers: Mapping[str, str]) -> bool:
        """Takes note of a response that has begun.

        Returns:
            whether what was written has to be taken back first, since the file is sent anew.

        Raises:
            UnreachableError: that cannot be done, or was done too often.
        """
        if self.received > 0 and status == 206:
            return False
        begins_anew = self.received > 0
        if begins_anew:
            self._restarts += 1
            if not self._rewindable:
                raise UnreachableError(self._base_url, self._attempts, "the file has changed while it was downloaded")
            if self._restarts > _MOST_RESTARTS:
                raise UnreachableError(self._base_url, self._attempts, "the file broke off each time")
        length = headers.get("content-length")
        self.received = 0
        self.total = None if length is None else int(length)
        self._etag = headers.get("etag")
        return begins_anew

    def add(self, size: int) -> None:
        """Takes note of bytes that were received and written."""
        self.received += size
        self._last_received_at = time.monotonic()
        self._attempts = 0

    def pause_after(self, failure: Exception, *, final: bool, asked: float | None, give_up_after: float) -> float:
        """How long to wait before the next attempt, in seconds; none begins so long after the last byte.

        Raises:
            PlatenError: there is no further attempt; the failure itself where that is a PlatenError.
        """
        pause = self._retry.pause(max(1, self._attempts), asked)
        stuck = self.received > 0 and self._etag is None and not self._rewindable
        if final or stuck or time.monotonic() + pause > self._last_received_at + give_up_after:
            if isinstance(failure, PlatenError):
                raise failure
            why = str(failure) or type(failure).__name__
            raise UnreachableError(self._base_url, max(1, self._attempts), why) from failure
        return pause
