"""The running service, and what a test can have done to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class Account:
    api_key: str
    token: str
    email: str
    password: str


class Control:
    """Asks who has started the service."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.url: str = self._ask("service")["url"]

    def new_key(self, plan: str = "business") -> str:
        """The key of an account of its own."""
        return self._ask(f"key/{plan}")["apiKey"]

    def new_account(self, plan: str) -> Account:
        """An account that somebody can sign in to, with a key."""
        told = self._ask(f"account/{plan}")
        return Account(told["apiKey"], told["token"], told["email"], told["password"])

    def save_template(self, account: Account, content: str) -> str:
        """Its id."""
        answer = httpx.post(
            f"{self.url}/user/templates",
            json={"name": "note", "content": content},
            headers={"Authorization": f"Bearer {account.token}"},
        )
        answer.raise_for_status()
        return str(answer.json()["id"])

    @contextmanager
    def restarting(self) -> Iterator[None]:
        """Kills the service a moment from now and starts it again, at the same address."""

        def restart() -> None:
            time.sleep(0.5)
            self._ask("restart")

        thread = threading.Thread(target=restart)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def _ask(self, what: str) -> dict[str, str]:
        answer = httpx.post(f"{self._url}/{what}", timeout=240)
        answer.raise_for_status()
        told: dict[str, str] = answer.json()
        return told
