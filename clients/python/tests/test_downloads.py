"""What goes wrong while a file is downloaded, step by step, on a real connection."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

import platen
from callers import Caller, cancel_when
from trouble import Exchange, Step, TroubledServer, VanishingServer, refuse, silence

BATCH = "3f0e1c58-8a11-4a53-9a0b-1c1f1d4c9a11"
ZIP = os.urandom(3_000_000)
QUICK = platen.Retry(first_pause=0.02, longest_pause=0.1, give_up_after=15)


def zip_file(until: int = len(ZIP), etag: str | None = '"one"') -> Step:
    """The file, or the part that is asked for, as far as `until`; then the connection is cut."""

    def answer(exchange: Exchange) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-", exchange.seen.headers.get("range", ""))
        is_part = wanted is not None and exchange.seen.headers.get("if-range") == etag
        start = int(wanted.group(1)) if wanted is not None and is_part else 0
        headers = {"content-type": "application/zip", "content-length": str(len(ZIP) - start)}
        if etag is not None:
            headers["etag"] = etag
        if is_part:
            headers["content-range"] = f"bytes {start}-{len(ZIP) - 1}/{len(ZIP)}"
        exchange.answer(206 if is_part else 200, ZIP[start:until], headers)
        if until < len(ZIP):
            # What was sent is to arrive.
            exchange.handler.close_connection = True

    return answer


@pytest.fixture
def troubled_client(client_of: Callable[..., Caller], troubled: TroubledServer) -> Caller:
    timeouts = platen.Timeouts(connect=5, read=3)
    return client_of(troubled.url, api_key="sk_live_x", retry=QUICK, timeouts=timeouts)


def ranges_of(troubled: TroubledServer) -> list[str | None]:
    return [seen.headers.get("range") for seen in troubled.seen]


def test_a_zip_is_whole_with_its_progress(troubled_client: Caller, troubled: TroubledServer, tmp_path: Path) -> None:
    troubled.steps = [zip_file()]
    told: list[tuple[int, int | None]] = []
    path = tmp_path / "batch.zip"
    size = troubled_client.batches.download(BATCH, path, on_progress=lambda *progress: told.append(progress))
    assert size == len(ZIP)
    assert path.read_bytes() == ZIP
    assert told[-1] == (len(ZIP), len(ZIP))
    assert len(told) > 3
    assert [file.name for file in tmp_path.iterdir()] == ["batch.zip"]
    assert (troubled.seen[0].path, troubled.seen[0].headers["x-api-key"]) == (f"/v1/pdf/batch/{BATCH}/zip", "sk_live_x")


def test_a_download_goes_on_where_the_connection_broke_as_often_as_it_does(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    troubled.steps = [
        refuse(503, "UNAVAILABLE"),
        zip_file(until=400_000),
        zip_file(until=1_000_000),
        refuse(429, "RATE_LIMITED"),
        silence,
        zip_file(until=2_999_999),
        zip_file(),
    ]
    target = io.BytesIO()
    assert troubled_client.batches.download(BATCH, target) == len(ZIP)
    assert target.getvalue() == ZIP
    assert ranges_of(troubled)[:2] == [None, None]
    assert all(re.fullmatch(r"bytes=\d{5,7}-", wanted or "") for wanted in ranges_of(troubled)[2:])
    assert len(troubled.seen) == 7


def test_a_stream_goes_on_where_its_connection_broke(troubled_client: Caller, troubled: TroubledServer) -> None:
    troubled.steps = [refuse(503, "UNAVAILABLE"), zip_file(until=400_000), zip_file(until=1_000_000), zip_file()]
    assert b"".join(troubled_client.batches.stream(BATCH)) == ZIP
    assert ranges_of(troubled)[:2] == [None, None]
    assert all(re.fullmatch(r"bytes=\d{5,7}-", wanted or "") for wanted in ranges_of(troubled)[2:])
    assert len(troubled.seen) == 4
    troubled.steps = [zip_file()]
    pieces = troubled_client.batches.stream(BATCH)
    assert ZIP.startswith(next(iter(pieces)))
    pieces.close()


def test_two_different_files_are_never_put_together(troubled_client: Caller, troubled: TroubledServer) -> None:
    troubled.steps = [zip_file(until=400_000), zip_file(etag='"another"')]
    with pytest.raises(platen.UnreachableError, match="changed"):
        troubled_client.batches.download(BATCH, io.BytesIO())
    troubled.steps = [zip_file(until=400_000, etag=None), zip_file()]
    with pytest.raises(platen.UnreachableError):
        troubled_client.batches.download(BATCH, io.BytesIO())
    assert len(troubled.steps) == 1, "there is no going on without a name for the bytes"


def test_a_file_at_a_path_is_begun_anew_where_there_is_no_going_on(
    troubled_client: Caller, troubled: TroubledServer, tmp_path: Path
) -> None:
    path = tmp_path / "batch.zip"
    path.write_bytes(b"old")
    troubled.steps = [zip_file(until=400_000, etag=None), zip_file(until=700_000), zip_file(etag='"another"')]
    assert troubled_client.batches.download(BATCH, path) == len(ZIP)
    assert path.read_bytes() == ZIP
    # It cannot be had whole.
    troubled.steps = [zip_file(until=400_000, etag=None) for _ in range(9)]
    with pytest.raises(platen.UnreachableError, match="broke off each time"):
        troubled_client.batches.download(BATCH, path)
    assert path.read_bytes() == ZIP
    assert [file.name for file in tmp_path.iterdir()] == ["batch.zip"]


@pytest.mark.parametrize(
    ("status", "code", "kind"), [(404, "NOT_FOUND", platen.NotFoundError), (410, "GONE", platen.GoneError)]
)
def test_what_the_service_does_not_have_is_said_at_once(
    troubled_client: Caller,
    troubled: TroubledServer,
    tmp_path: Path,
    status: int,
    code: str,
    kind: type[platen.ApiError],
) -> None:
    troubled.steps = [refuse(status, code), zip_file()]
    with pytest.raises(kind) as caught:
        troubled_client.batches.download(BATCH, tmp_path / "batch.zip")
    assert caught.value.code == code
    assert len(troubled.seen) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_download_is_given_up_with_what_the_service_said_last(
    client_of: Callable[..., Caller], troubled: TroubledServer, tmp_path: Path
) -> None:
    retry = platen.Retry(first_pause=0.02, longest_pause=0.1, give_up_after=0.5)
    troubled.steps = [refuse(500, "INTERNAL") for _ in range(100)]
    with pytest.raises(platen.ServerError):
        client_of(troubled.url, api_key="x", retry=retry).batches.download(BATCH, tmp_path / "batch.zip")
    assert len(troubled.seen) > 3
    assert list(tmp_path.iterdir()) == []


def test_a_download_ends_with_its_timeout_and_with_the_fault_of_its_target(
    troubled_client: Caller, troubled: TroubledServer, tmp_path: Path
) -> None:
    troubled.steps = [silence]
    with pytest.raises(platen.DeadlineError):
        troubled_client.batches.download(BATCH, tmp_path / "batch.zip", timeout=0.3)
    assert list(tmp_path.iterdir()) == []

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError("no space left")

    troubled.steps = [zip_file(), zip_file()]
    with pytest.raises(OSError, match="no space left"):
        troubled_client.batches.download(BATCH, Full())
    assert len(troubled.steps) == 1
    with pytest.raises(FileNotFoundError):
        troubled_client.batches.download(BATCH, tmp_path / "nowhere" / "batch.zip")


def test_a_server_that_vanishes_in_the_middle_is_left_and_what_is_missing_is_fetched(
    client_of: Callable[..., Caller], vanishing: VanishingServer, tmp_path: Path
) -> None:
    timeouts = platen.Timeouts(connect=5, read=1)
    caller = client_of(vanishing.url, api_key="x", retry=QUICK, timeouts=timeouts)
    vanishing.half_answers = 1
    path = tmp_path / "a.pdf"
    caller.jobs.download(BATCH, path)
    assert path.read_bytes().startswith(b"%PDF-1.7")
    assert len(vanishing.seen) >= 2


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_download_that_is_cancelled_leaves_nothing_behind(
    troubled: TroubledServer, tmp_path: Path, backend: str
) -> None:
    def half(exchange: Exchange) -> None:
        exchange.answer(200, ZIP[:400_000], {"content-length": str(len(ZIP))})
        silence(exchange)

    troubled.steps = [half]

    def has_begun() -> bool:
        return any(file.stat().st_size for file in tmp_path.iterdir())

    async def cancelled() -> bool:
        async with platen.AsyncClient(troubled.url, api_key="x") as client:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(cancel_when, has_begun, scope)
                    await client.batches.download(BATCH, tmp_path / "batch.zip")
            return scope.cancelled_caught

    assert anyio.run(cancelled, backend=backend)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_event_loop_goes_on_while_a_slow_disk_is_written(troubled: TroubledServer, backend: str) -> None:
    troubled.steps = [zip_file()]

    class Slow(io.BytesIO):
        def write(self, data: bytes) -> int:  # type: ignore[override]
            time.sleep(0.02)
            return super().write(data)

    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    told: list[int] = []

    async def main() -> None:
        async with platen.AsyncClient(troubled.url, api_key="x") as client, anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            await client.batches.download(BATCH, Slow(), on_progress=lambda received, total: told.append(received))
            tasks.cancel_scope.cancel()

    anyio.run(main, backend=backend)
    assert turns > len(told) * 2
