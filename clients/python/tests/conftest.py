"""What the tests share: a real service, and the three ways in which callers use the client."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from callers import Accounts, Caller, opened, opened_accounts
from control import Control
from trouble import TroubledServer, VanishingServer


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test that asks for a caller with the synchronous client and with the asynchronous one.

    The event loop decides how requests are waited for, repeated and cut off, which the tests with a troubled server
    check on each loop. A real service is called on one loop alone.
    """
    if "caller" in metafunc.fixturenames:
        loops = ["asyncio"] if "control" in metafunc.fixturenames else ["asyncio", "trio"]
        metafunc.parametrize("caller", ["sync", *loops])


@pytest.fixture
def client_of(caller: str) -> Iterator[Callable[..., Caller]]:
    """Makes clients, and closes them after the test."""
    with opened(caller) as make:
        yield make


@pytest.fixture
def accounts(caller: str) -> Iterator[Accounts]:
    """Makes clients of accounts, and closes them after the test."""
    with opened_accounts(caller) as made:
        yield made


@pytest.fixture(scope="session")
def control() -> Control:
    """The running service."""
    url = os.environ.get("PLATEN_TEST_CONTROL")
    if url is None:
        pytest.skip("needs a running service: test/integration/client-python starts one")
    return Control(url)


@pytest.fixture
def client(client_of: Callable[..., Caller], control: Control) -> Caller:
    """A client of an account with the plan business."""
    return client_of(control.url, api_key=control.new_key())


@pytest.fixture
def troubled() -> Iterator[TroubledServer]:
    with TroubledServer() as server:
        yield server


@pytest.fixture
def vanishing() -> Iterator[VanishingServer]:
    with VanishingServer() as server:
        yield server


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Says what became of each test, for whoever counts them."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    path = os.environ.get("PLATEN_TEST_RESULTS")
    if path is None or (report.when != "call" and report.passed):
        return
    with Path(path).open("a") as results:
        line = {"test": item.nodeid, "outcome": report.outcome, "what": str(report.longrepr or "")}
        results.write(json.dumps(line) + "\n")
