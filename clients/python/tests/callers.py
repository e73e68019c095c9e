"""The asynchronous client behind a synchronous front, so that one test is of both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

import platen

#: A `platen.Client`, or what stands in front of a `platen.AsyncClient`.
Caller: TypeAlias = Any


class Front:
    """Calls the methods of something asynchronous on an event loop of their own, and waits for them."""

    def __init__(self, target: object, portal: BlockingPortal) -> None:
        self._target = target
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if inspect.isasyncgenfunction(value):
            return lambda *args, **kwargs: self._iterate(value(*args, **kwargs))
        if inspect.iscoroutinefunction(value):
            return lambda *args, **kwargs: self._front(self._portal.call(lambda: value(*args, **kwargs)))
        return self._front(value)

    def _front(self, value: object) -> Any:
        if inspect.isasyncgen(value):
            return self._iterate(value)
        return Front(value, self._portal) if type(value).__module__.startswith("platen._async") else value

    def _iterate(self, values: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._portal.call(values.__anext__)
                except StopAsyncIteration:
                    return
        finally:
            self._portal.call(values.aclose)


class Accounts:
    """Makes clients of accounts, of one of the kinds."""

    def __init__(self, sign_in: Callable[..., Caller], register: Callable[..., Caller], make: Callable[..., Caller]):
        self._made: list[Caller] = []
        self._sign_in = sign_in
        self._register = register
        self._make = make

    def sign_in(self, url: str, *, email: str, password: str) -> Caller:
        return self._note(self._sign_in(url, email=email, password=password))

    def register(self, url: str, *, email: str, password: str) -> Caller:
        return self._note(self._register(url, email=email, password=password))

    def of_token(self, url: str, token: str) -> Caller:
        return self._note(self._make(url, access_token=token))

    def close(self) -> None:
        for made in self._made:
            if isinstance(made, Front):
                made.aclose()
            else:
                made.close()

    def _note(self, made: Caller) -> Caller:
        self._made.append(made)
        return made


@contextmanager
def opened_accounts(caller: str) -> Iterator[Accounts]:
    if caller == "sync":
        accounts = Accounts(platen.AccountClient.sign_in, platen.AccountClient.register, platen.AccountClient)
        try:
            yield accounts
        finally:
            accounts.close()
        return
    with start_blocking_portal(backend=caller) as portal:
        front = Front(platen.AsyncAccountClient, portal)
        made = Accounts(
            front.sign_in,
            front.register,
            lambda *args, **kwargs: Front(platen.AsyncAccountClient(*args, **kwargs), portal),
        )
        try:
            yield made
        finally:
            made.close()


async def cancel_when(is_so: Callable[[], bool], scope: anyio.CancelScope) -> None:
    # What it waits for is in another thread.
    while not is_so():  # noqa: ASYNC110
        await anyio.sleep(0.01)
    scope.cancel()


@contextmanager
def opened(caller: str) -> Iterator[Callable[..., Caller]]:
    """What makes clients of a kind: `sync`, or the name of an event loop."""
    if caller == "sync":
        clients: list[platen.Client] = []

        def make(*args: Any, **kwargs: Any) -> platen.Client:
            clients.append(platen.Client(*args, **kwargs))
            return clients[-1]

        try:
            yield make
        finally:
            for client in clients:
                client.close()
        return
    with start_blocking_portal(backend=caller) as portal:
        fronts: list[Front] = []

        def make_front(*args: Any, **kwargs: Any) -> Front:
            fronts.append(Front(platen.AsyncClient(*args, **kwargs), portal))
            return fronts[-1]

        try:
            yield make_front
        finally:
            for front in fronts:
                front.aclose()
