"""The client of an account: its keys, templates, usage and plan."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from .._decoding import decoded
from .._documents import without_none
from .._retry import Deadline, Retry, Timeouts
from .._settings import Connection, address_of
from ..models import AccessToken
from .account_routes import AsyncAccountRoutes
from .client import request_any
from .transport import AsyncTransport, Response


class AsyncAccountClient(AsyncAccountRoutes):
    """Manages an account with an access token; `sign_in` makes one from a password.

    Use it with `async with`, or `aclose` it. Any number of calls may go on at once.

    Args:
        base_url: where the service is; else PLATEN_URL of the environment.
        access_token: from `sign_in` or `register`, or of the OpenID Connect issuer that the service trusts.
        retry: how a call is repeated.
        timeouts: the bounds of each attempt.
        http_client: what requests are sent with. It stays yours to close.

    Raises:
        ValueError: there is no address or no token.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        access_token: str,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        token = access_token.strip()
        if not token:
            raise ValueError("access_token is empty")
        self.access_token = token
        """For another client of the same session."""
        self._transport = AsyncTransport(
            Connection(address_of(base_url), {"Authorization": f"Bearer {token}"}),
            retry=retry or Retry(),
            timeouts=timeouts or Timeouts(),
            http_client=http_client,
        )

    @classmethod
    async def sign_in(
        cls,
        base_url: str | None = None,
        *,
        email: str,
        password: str,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> AsyncAccountClient:
        """A client with a new access token, which is valid for 12 hours.

        Raises:
            AuthenticationError: address and password do not match.
            RateLimitError: too many attempts have failed.
        """
        body = {"email": email, "password": password}
        token = await _new_token("/auth/login", body, base_url, retry, timeouts, http_client)
        return cls(base_url, access_token=token, retry=retry, timeouts=timeouts, http_client=http_client)

    @classmethod
    async def register(
        cls,
        base_url: str | None = None,
        *,
        email: str,
        password: str,
        invitation: str | None = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> AsyncAccountClient:
        """A client of a new account.

        Args:
            invitation: the code, where accounts are made with one only.

        Raises:
            PermissionDeniedError: registration is closed, or the invitation is not valid.
        """
        body = without_none({"email": email, "password": password, "invitation": invitation})
        token = await _new_token("/auth/register", body, base_url, retry, timeouts, http_client)
        return cls(base_url, access_token=token, retry=retry, timeouts=timeouts, http_client=http_client)

    async def __aenter__(self) -> AsyncAccountClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections that are kept. The access token stays valid: `sign_out` ends it."""
        await self._transport.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Any route of the API, as `Client.request`."""
        return await request_any(self._transport, method, path, query, body, headers, Deadline(timeout))

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Response:
        sent = None if body is None else without_none(body)
        return await self._transport.send(method, path, query=query, body=sent)


async def _new_token(
    path: str,
    body: Mapping[str, str],
    base_url: str | None,
    retry: Retry | None,
    timeouts: Timeouts | None,
    http_client: httpx.AsyncClient | None,
) -> str:
    transport = AsyncTransport(
        Connection(address_of(base_url), {}),
        retry=retry or Retry(),
        timeouts=timeouts or Timeouts(),
        http_client=http_client,
    )
    try:
        response = await transport.send("POST", path, body=body)
        return decoded(AccessToken, response.body).access_token
    finally:
        await transport.close()
