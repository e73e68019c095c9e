"""How requests are sent: each attempt within bounds, repeated where that is safe and can help."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from .._decoding import encoded
from .._retry import (
    FIRST_CONTACT,
    NO_DEADLINE,
    Deadline,
    Retry,
    Timeouts,
    error_is_retryable,
    is_idempotent,
    is_submission,
    response_is_retryable,
    retry_after,
)
from .._settings import LIMITS, USER_AGENT, Connection
from ..errors import UnreachableError, api_error
from .primitives import sleep


@dataclass(frozen=True)
class Response:
    """A response with its whole body."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class AsyncTransport:
    """Sends the requests of one client."""

    def __init__(
        self,
        connection: Connection,
        *,
        retry: Retry,
        timeouts: Timeouts,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        self._connection = connection
        self.base_url = connection.base_url
        self.retry = retry
        self._is_reached = False
        """Whether the address has led to a server."""
        self._timeouts = timeouts
        self._owns_http = http_client is None
        self._http = httpx.AsyncClient(limits=LIMITS) if http_client is None else http_client

    async def close(self) -> None:
        """Closes the connections, unless their pool is the caller's own."""
        if self._owns_http:
            await self._http.aclose()

    @property
    def give_up_after(self) -> float:
        """Seconds after which no further attempt begins."""
        return self.retry.give_up_after if self._is_reached else min(FIRST_CONTACT, self.retry.give_up_after)

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> Response:
        """Sends a request, and repeats it with the same headers and body where another attempt can succeed. A
        submission is given an Idempotency-Key unless it has one. A request that is not idempotent is repeated only when
        the service has refused it with 429.

        Raises:
            ApiError: the service's last response is an error.
            UnreachableError: there was no response.
            DeadlineError: the call's time is over.
        """
        sent = dict(headers or {})
        if is_submission(method, path) and "Idempotency-Key" not in sent:
            sent["Idempotency-Key"] = str(uuid.uuid4())
        content = None if body is None else encoded(body)
        if content is not None:
            sent["Content-Type"] = "application/json"
        idempotent = is_idempotent(method, sent)
        failed_at: float | None = None
        attempts = 0
        while True:
            attempts += 1
            asked: float | None = None
            cause: Exception
            try:
                response = await self._attempt(method, path, query, sent, content, deadline)
                if response.is_success:
                    return response
                cause = api_error(response.status, response.headers, response.body)
                retryable = response_is_retryable(response.status, response.body, idempotent)
                asked = retry_after(response.headers)
            except httpx.RequestError as error:
                if deadline.is_over():
                    raise deadline.error() from error
                cause = UnreachableError(self.base_url, attempts, str(error) or type(error).__name__)
                cause.__cause__ = error
                retryable = error_is_retryable(error, idempotent)
            pause = self.retry.pause(attempts, asked)
            now = time.monotonic()
            failed_at = now if failed_at is None else failed_at
            if not retryable or now + pause > failed_at + self.give_up_after:
                raise cause
            deadline.check(pause, cause)
            await sleep(pause)

    async def _attempt(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        content: bytes | None,
        deadline: Deadline,
    ) -> Response:
        """One attempt. It succeeds when the whole response was received: a file that breaks off is fetched anew."""
        timeout = self._timeouts.of(len(content or b""), deadline)
        async with self._open(
            method,
            self._connection.address(path),
            params=_query(query),
            content=content,
            headers=self._headers(path, headers),
            timeout=timeout,
        ) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                deadline.check()
            return Response(response.status_code, response.headers, bytes(body))

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        headers: Mapping[str, str],
        *,
        read_timeout: float | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> AsyncIterator[httpx.Response]:
        """Sends one GET, whose response is too long to be held or never ends; its body is read as it arrives.

        Args:
            read_timeout: the longest silence in seconds; else that of all requests.

        Raises:
            httpx.RequestError: whatever breaks the connection, also while the body is read.
        """
        timeouts = self._timeouts
        if read_timeout is not None:
            timeouts = Timeouts(connect=timeouts.connect, read=read_timeout)
        async with self._open(
            "GET",
            self._connection.address(path),
            headers=self._headers(path, headers),
            timeout=timeouts.of(0, deadline),
        ) as response:
            yield response

    @asynccontextmanager
    async def _open(self, method: str, address: str, **request: Any) -> AsyncIterator[httpx.Response]:
        try:
            async with self._http.stream(method, address, follow_redirects=False, **request) as response:
                self._is_reached = True
                yield response
        except httpx.RequestError as error:
            # What breaks off has led to a server before.
            if not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol)):
                self._is_reached = True
            raise

    def _headers(self, path: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Credentials are for the service itself: a signed address may lead elsewhere."""
        own = self._connection.credentials if path.startswith("/") else {}
        return {"User-Agent": USER_AGENT, **own, **headers}


def _query(query: Mapping[str, Any] | None) -> dict[str, str]:
    """Only what is given, with booleans as the API writes them."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
