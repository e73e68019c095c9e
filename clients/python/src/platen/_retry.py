"""When to send a request again, and how long to wait before. The same for both clients."""

from __future__ import annotations

import random
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from .errors import DeadlineError, error_body

_SAFE_TO_REPEAT = frozenset(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
#: What submits work, and takes an Idempotency-Key.
_SUBMISSIONS = re.compile(r"/v1/pdf(?:/(?:batch|convert|fill|flatten))?$")
_LEAST_BYTES_PER_SECOND = 8192
_LONGEST_UPLOAD = 60.0


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Pauses that grow: each is twice as long as the one before, and random, so that clients which met the same trouble
    do not come back all at once. In seconds."""

    first_pause: float = 0.5
    """Mean of the first pause."""
    longest_pause: float = 20.0
    """Mean of the longest one; what the service asks for by Retry-After is waited for in any case."""

    def pause(self, attempts: int, asked: float | None = None) -> float:
        """The pause after so many attempts, never shorter than what the service has asked for; in seconds."""
        if asked:
            return asked + random.random() * self.first_pause
        # So many doublings are beyond any longest pause, and beyond what a float can hold.
        mean = min(self.longest_pause, self.first_pause * 2.0 ** min(attempts - 1, 60))
        return mean * (0.5 + random.random())


@dataclass(frozen=True, kw_only=True)
class Retry(Backoff):
    """How a call is repeated. In seconds."""

    give_up_after: float = 120.0
    """No attempt begins later than this after the first one has failed, or after the last bytes of a download. An
    address that has never led to a server is given up after 5 seconds."""


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """The bounds of each attempt, in seconds. A server can vanish without closing its connections, so every wait for
    one is bounded."""

    connect: float = 10.0
    read: float = 45.0
    """The longest silence, before a response begins and within it; the whole may take as long as it likes. The service
    responds to a synchronous render after 25 seconds at the latest, unless its operator has changed that."""

    def of(self, body_size: int, deadline: Deadline) -> httpx.Timeout:
        """For one attempt. A large body has as much longer as its upload may take, at 8 KiB a second and for a minute
        at most: the service takes no slower one. Waiting for a free connection of the pool has no bound but the
        deadline."""
        left = deadline.left()
        write = self.read + min(_LONGEST_UPLOAD, body_size / _LEAST_BYTES_PER_SECOND)
        if left is None:
            return httpx.Timeout(connect=self.connect, read=self.read, write=write, pool=None)
        return httpx.Timeout(
            connect=min(self.connect, left), read=min(self.read, left), write=min(write, left), pool=left
        )


class Deadline:
    """The end of a whole call, with all its attempts and pauses.

    Args:
        timeout: in seconds from now; None for none.
    """

    def __init__(self, timeout: float | None) -> None:
        self.timeout = timeout
        self._at = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        """Seconds; None without a deadline.

        Raises:
            DeadlineError: it is over.
        """
        if self._at is None:
            return None
        left = self._at - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    def check(self, pause: float = 0.0, cause: Exception | None = None) -> None:
        """
        Raises:
            DeadlineError: it is over, or will be after this pause in seconds; from the error that the pause is for.
        """
        if self._at is not None and time.monotonic() + pause >= self._at:
            raise self.error() from cause

    def is_over(self) -> bool:
        return self._at is not None and time.monotonic() >= self._at

    def error(self) -> DeadlineError:
        return DeadlineError(f"Not done within {self.timeout} s.")


NO_DEADLINE = Deadline(None)
#: Until an address has led to a server for the first time.
FIRST_CONTACT = 5.0
#: How long a call that was aborted goes on to cancel its job.
CANCEL_WITHIN = 5.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds, from seconds or from a date (RFC 9110, section 10.2.3); None without one."""
    header = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def is_submission(method: str, path: str) -> bool:
    """Whether a request submits a render, a conversion or a batch, and so has to have an Idempotency-Key."""
    return method == "POST" and _SUBMISSIONS.search(path) is not None


def is_idempotent(method: str, headers: Mapping[str, str]) -> bool:
    """Whether sending it twice has the effect of sending it once."""
    return method in _SAFE_TO_REPEAT or "Idempotency-Key" in headers


def response_is_retryable(status: int, body: bytes, idempotent: bool) -> bool:
    """Whether another attempt can succeed where this one was refused."""
    if status == 429:
        return True
    if not idempotent or (status < 500 and status != 409):
        return False
    fields = error_body(body)
    # The first request with this key is still being processed; its response will be sent to this one, too.
    if status == 409:
        return fields.get("code") == "IDEMPOTENCY_IN_PROGRESS"
    # A job that failed has had all its attempts.
    return fields.get("jobId") is None


def error_is_retryable(error: BaseException, idempotent: bool) -> bool:
    """Whether another attempt can succeed where this one had no response."""
    if not idempotent or isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return False
    cause: BaseException | None = error
    while cause is not None:
        # A certificate does not become trusted by asking again.
        if isinstance(cause, ssl.SSLCertVerificationError):
            return False
        cause = cause.__cause__ or cause.__context__
    return True
