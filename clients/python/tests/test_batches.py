"""Batches of a real service."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

import anyio
import httpx
import pytest
from pypdf import PdfReader

import platen
from callers import Caller
from control import Control
from cutting import CuttingProxy


def items(count: int, delay_ms: int = 0) -> Sequence[platen.BatchItemInput]:
    """Items of which some take a moment, so that progress can be seen."""
    return [{"id": f"item-{i}", "html": f"<p>{i}</p>", "options": {"delayMs": delay_ms}} for i in range(count)]


FAILS: platen.BatchItemInput = {
    "id": "bad",
    "html": "x",
    "options": {"waitForSelector": "#n", "timeoutMs": 1000},
}


def test_a_batch_is_ordered_followed_to_its_end_and_looked_through(client: Caller, tmp_path: Path) -> None:
    ordered = client.batches.create([*items(4, 500), FAILS], notes="monthly", metadata={"run": "7"})
    assert ordered.total_count == 5
    batch_id = ordered.job_id
    states = list(client.batches.follow(batch_id, timeout=240))
    assert len(states) >= 3
    ended = [state.progress.completed + state.progress.failed for state in states]
    assert ended[:-1] == sorted(set(ended[:-1])), "nothing is reported twice"
    assert (states[-1].status, states[-1].progress.completed, states[-1].progress.failed) == ("completed", 4, 1)
    batch = client.batches.wait(batch_id)
    assert (batch.job.notes, batch.job.metadata) == ("monthly", {"run": "7"})
    assert batch.progress == states[-1].progress

    listed = [(item.item_id, item.status) for item in client.batches.items(batch_id)]
    assert listed == [*((f"item-{i}", "completed") for i in range(4)), ("bad", "failed")]
    page = client.batches.get(batch_id, limit=2, offset=3)
    assert [item.error and item.error.code for item in page.items] == [None, "SELECTOR_TIMEOUT"]
    assert [one.job_id for one in client.batches.list(status="completed")] == [batch_id]

    path = tmp_path / "batch.zip"
    assert client.batches.download(batch_id, path) == path.stat().st_size
    manifest = client.batches.manifest(batch_id)
    assert manifest.job_id == batch_id
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [f"item-{i}.pdf" for i in range(4)]
        for item in manifest.items[:4]:
            content = archive.read(item.file_name)
            assert (len(content), hashlib.sha256(content).hexdigest()) == (item.size, item.sha256)
    failed = manifest.items[4]
    assert (failed.item_id, failed.status, failed.sha256) == ("bad", "failed", None)
    assert failed.error is not None and failed.error.code == "SELECTOR_TIMEOUT"

    one = client.batches.pdf(batch_id, "item-2")
    assert PdfReader(io.BytesIO(one)).pages[0].extract_text() == "2"
    assert httpx.get(client.batches.download_url(batch_id, "item-2").url).content == one
    merged = io.BytesIO()
    client.batches.download_merged(batch_id, merged)
    assert [page.extract_text() for page in PdfReader(merged).pages] == ["0", "1", "2", "3"]
    with pytest.raises(platen.NotFoundError):
        client.batches.pdf(batch_id, "bad")


def test_a_batch_is_one_for_one_idempotency_key_and_refused_with_all_of_its_faults(client: Caller) -> None:
    key = str(uuid4())
    first = client.batches.create(items(2), idempotency_key=key)
    assert client.batches.create(items(2), idempotency_key=key).job_id == first.job_id
    faulty = [{"id": "a", "html": "x", "options": {"scale": 9}}, {"id": "a", "html": "x"}]
    with pytest.raises(platen.BadRequestError) as caught:
        client.batches.create(faulty)
    assert len(caught.value.messages) == 2
    with pytest.raises(platen.NotFoundError):
        client.batches.wait(str(uuid4()))
    with pytest.raises(platen.NotFoundError):
        client.batches.download(str(uuid4()), io.BytesIO())


def test_a_batch_is_followed_from_where_a_broken_connection_had_got_to(
    client_of: Callable[..., Caller], control: Control
) -> None:
    with CuttingProxy(control.url) as proxy:
        client = client_of(proxy.url, api_key=control.new_key())
        batch_id = client.batches.create(items(6, 1000)).job_id
        completed = [state.progress.completed for state in client.batches.follow(batch_id)]
    assert completed[-1] == 6
    assert completed == sorted(completed)
    asked = proxy.last_event_ids
    assert len(asked) >= 3
    assert asked[0] is None
    assert None not in asked[1:]


@pytest.mark.parametrize("refusal", [404, 502])
def test_a_batch_is_looked_at_again_and_again_where_no_events_can_be_had(
    client_of: Callable[..., Caller], control: Control, refusal: int
) -> None:
    with CuttingProxy(control.url, refusal=refusal) as proxy:
        client = client_of(proxy.url, api_key=control.new_key())
        batch_id = client.batches.create(items(3, 300)).job_id
        assert client.batches.wait(batch_id, timeout=240).progress.completed == 3
    if refusal == 404:
        assert len(proxy.last_event_ids) == 1, "what is not there is not asked for again"


def test_a_batch_is_waited_for_across_a_restart_of_the_service(client: Caller, control: Control) -> None:
    batch_id = client.batches.create(items(8, 500)).job_id
    with control.restarting():
        assert client.batches.wait(batch_id).progress.completed == 8


def test_a_batch_is_cancelled_also_twice_and_waiting_ends_with_its_timeout(client: Caller) -> None:
    batch_id = client.batches.create(items(40, 300)).job_id
    with pytest.raises(platen.DeadlineError):
        client.batches.wait(batch_id, timeout=0.3)
    for state in client.batches.follow(batch_id):
        assert state.job_id == batch_id
        # Whoever has seen enough leaves.
        break
    assert client.batches.cancel(batch_id).status == "cancelled"
    assert client.batches.cancel(batch_id).status == "cancelled"
    batch = client.batches.wait(batch_id)
    assert batch.status == "cancelled"
    assert batch.progress.failed > 0
    whole = client.batches.create(items(2)).job_id
    client.batches.wait(whole)
    with pytest.raises(platen.ConflictError) as caught:
        client.batches.cancel(whole)
    assert caught.value.code == "JOB_ENDED"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_task_that_follows_a_batch_can_be_cancelled(control: Control, backend: str) -> None:
    async def cancelled() -> str:
        async with platen.AsyncClient(control.url, api_key=control.new_key()) as client:
            batch_id = (await client.batches.create(items(40, 300))).job_id
            with anyio.move_on_after(0.5) as scope:
                await client.batches.wait(batch_id)
            assert scope.cancelled_caught
            return (await client.batches.cancel(batch_id)).status

    assert anyio.run(cancelled, backend=backend) == "cancelled"
