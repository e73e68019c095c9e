"""Where the service is, and who asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import urlsplit

import httpx

try:
    __version__ = version("platen")
except PackageNotFoundError:  # Run from its sources, without being installed.
    __version__ = "0"

USER_AGENT = f"platen-python/{__version__}"
#: Connections that nobody uses are closed after seconds, so that those which lead to a server that is gone cost a call
#: one attempt in all.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)


@dataclass(frozen=True)
class Connection:
    base_url: str
    credentials: Mapping[str, str] = field(repr=False)

    def address(self, path: str) -> str:
        """Of a path of the API; an address that is whole stays as it is."""
        return f"{self.base_url}{path}" if path.startswith("/") else path


def connection_of(base_url: str | None, api_key: str | None) -> Connection:
    """The connection of an API key; what is not given is taken from the environment, as by the command line.

    Raises:
        ValueError: there is none, or the address is not one of HTTP.
    """
    key = (api_key or os.environ.get("PLATEN_API_KEY", "")).strip()
    if not key:
        raise ValueError("no API key: give api_key, or set PLATEN_API_KEY")
    return Connection(address_of(base_url), {"X-API-Key": key})


def address_of(base_url: str | None) -> str:
    """The service's address, without a slash at its end.

    Raises:
        ValueError: there is none, or it is not one of HTTP.
    """
    address = (base_url or os.environ.get("PLATEN_URL", "")).strip().rstrip("/")
    if not address:
        raise ValueError("no address of the service: give base_url, or set PLATEN_URL")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url must begin with http:// or https:// and name a host: {address}")
    return address
