"""What the client does with a real service."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from uuid import uuid4

import anyio
import httpx
import pytest
from pypdf import PdfReader

import platen
from callers import Caller
from control import Control

NOWHERE = "00000000-0000-4000-8000-000000000000"
#: Longer than the service of the tests has a caller wait.
SLOW = platen.RenderOptions(delayMs=6000)


def text_of(content: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def test_a_document_is_rendered(client: Caller, tmp_path: Path) -> None:
    pdf = client.render(html="<h1>Hello, client</h1>", options={"format": "A5", "metadata": {"title": "Greeting"}})
    assert "Hello, client" in text_of(pdf.content)
    assert pdf.pages == 1
    assert pdf.processing_time_ms > 0
    assert pdf.size == len(pdf.content)
    assert pdf.expires_at > datetime.now(timezone.utc)
    assert "%PDF" not in repr(pdf)
    job = client.jobs.get(pdf.job_id)
    assert (job.status, job.input_mode, job.error, job.pdf_size) == ("completed", "html", None, pdf.size)
    assert job.created_at <= job.completed_at
    pdf.save(tmp_path / "hello.pdf")
    anyio.run(pdf.asave, tmp_path / "again.pdf")
    assert (tmp_path / "hello.pdf").read_bytes() == (tmp_path / "again.pdf").read_bytes() == pdf.content


def test_a_render_that_takes_longer_than_the_service_waits_is_followed(client: Caller) -> None:
    pdf = client.render(html="<p>slow</p>", options=SLOW)
    assert "slow" in text_of(pdf.content)
    assert pdf.pages == 1
    assert pdf.expires_at is not None


def test_pdfs_that_exist_are_filled_flattened_converted_and_validated(client: Caller) -> None:
    order = client.render(
        html='<title>Order</title><label>Name <input name="name"></label>',
        options={"forms": True},
    )
    filled = client.fill(order, values={"name": "Ada"})
    assert PdfReader(io.BytesIO(filled.content)).get_form_text_fields() == {"name": "Ada"}
    flat = client.flatten(job_id=filled.job_id, cancel_on_abort=True)
    assert "Ada" in text_of(flat.content)
    assert not PdfReader(io.BytesIO(flat.content)).get_form_text_fields()
    archived = client.convert(flat.content, filename="order", options={"conformance": {"pdfa": "2b"}})
    found = client.validate(archived)
    assert (found.holds, found.claims.pdfa) == (True, "2b")
    assert client.validate(job_id=order.job_id).claims.pdfa is None
    with pytest.raises(platen.RenderError) as caught:
        client.fill(order, values={"missing": "x"})
    assert caught.value.code == "FORM_FIELD_UNKNOWN"
    with pytest.raises(TypeError):
        client.convert()


def test_two_calls_with_one_idempotency_key_are_one_job(client: Caller) -> None:
    key = str(uuid4())
    first = client.render(html="<p>once</p>", idempotency_key=key)
    second = client.render(html="<p>once</p>", idempotency_key=key)
    assert first == second
    with pytest.raises(platen.ConflictError) as caught:
        client.render(html="<p>another</p>", idempotency_key=key)
    assert caught.value.code == "IDEMPOTENCY_MISMATCH"


def test_jobs_render_in_the_background_and_are_listed_linked_and_fetched(client: Caller) -> None:
    ids = [client.submit(html=f"<p>number {i}</p>", filename=f"{i}.pdf").job_id for i in range(3)]
    pdfs = [client.jobs.result(job_id, timeout=240) for job_id in ids]
    assert [pdf.job_id for pdf in pdfs] == ids
    assert "number 2" in text_of(pdfs[2].content)
    assert [job.job_id for job in client.jobs.list(status="completed", sort="created_asc")] == ids
    link = client.jobs.download_url(ids[0])
    assert link.expires_at > datetime.now(timezone.utc)
    answer = httpx.get(link.url)
    assert answer.content == pdfs[0].content
    assert client.request("GET", "/v1/pdf/jobs", query={"limit": 2})["total"] == 3


def test_more_jobs_are_listed_than_fit_on_a_page(client: Caller) -> None:
    ids = {client.submit(html="<p>x</p>").job_id for _ in range(103)}
    assert {job.job_id for job in client.jobs.list()} == ids


def test_all_faults_of_a_request_are_told(client: Caller, client_of: Callable[..., Caller], control: Control) -> None:
    with pytest.raises(platen.BadRequestError) as caught:
        client.render(html="<p>x</p>", options={"scale": 9, "delayMs": -1})
    error = caught.value
    assert (error.status, error.code, len(error.messages)) == (400, "VALIDATION", 2)
    assert "options.scale" in str(error)
    assert len(error.request_id or "") == 36
    with pytest.raises(platen.AuthenticationError) as refused:
        client_of(control.url, api_key="sk_live_no").jobs.get(NOWHERE)
    assert refused.value.code == "UNAUTHENTICATED"
    with pytest.raises(platen.NotFoundError):
        client.jobs.get(NOWHERE)
    with pytest.raises(platen.BadRequestError):
        client.jobs.get("../../user/api-keys")


def test_why_a_render_failed_is_told_whether_the_service_waited_or_not(client: Caller) -> None:
    never = platen.RenderOptions(waitForSelector="#never", timeoutMs=1000)
    with pytest.raises(platen.RenderError) as held:
        client.render(html="<p>x</p>", options=never)
    assert (held.value.status, held.value.code) == (400, "SELECTOR_TIMEOUT")
    assert client.jobs.get(held.value.job_id).status == "failed"
    job_id = client.submit(html="<p>x</p>", options=never).job_id
    with pytest.raises(platen.RenderError) as later:
        client.jobs.result(job_id, timeout=240)
    assert (later.value.code, later.value.job_id) == ("SELECTOR_TIMEOUT", job_id)
    assert later.value.remedy is not None
    assert later.value.remedy == held.value.remedy
    assert str(later.value.docs_url).endswith("/docs/errors#SELECTOR_TIMEOUT")
    assert later.value.job is not None
    assert later.value.job.attempt_count == 1


def test_jobs_are_cancelled_also_twice_but_not_what_has_ended(client: Caller) -> None:
    job_id = client.submit(html="<p>x</p>", options=SLOW).job_id
    with pytest.raises(platen.DeadlineError) as over:
        client.jobs.wait(job_id, timeout=0.3)
    assert over.value.job_id == job_id
    assert client.jobs.cancel(job_id).status == "cancelled"
    assert client.jobs.cancel(job_id).status == "cancelled"
    with pytest.raises(platen.RenderError) as caught:
        client.jobs.result(job_id)
    assert caught.value.code == "CANCELLED"
    done = client.render(html="<p>done</p>")
    with pytest.raises(platen.ConflictError) as ended:
        client.jobs.cancel(done.job_id)
    assert ended.value.code == "JOB_ENDED"


def test_what_takes_too_long_is_cancelled_where_that_is_wanted(client: Caller) -> None:
    with pytest.raises(platen.DeadlineError) as caught:
        client.render(html="<p>x</p>", options=SLOW, timeout=1.5, cancel_on_abort=True)
    assert caught.value.job_id is not None
    assert client.jobs.get(caught.value.job_id).status == "cancelled"
    job_id = client.submit(html="<p>x</p>", options=SLOW).job_id
    with pytest.raises(platen.DeadlineError):
        client.jobs.result(job_id, timeout=0.3, cancel_on_abort=True)
    assert client.jobs.get(job_id).status == "cancelled"
    documents: list[platen.BatchItemInput] = [{"id": one, "html": "<p>x</p>", "options": SLOW} for one in ("a", "b")]
    batch_id = client.batches.create(documents).job_id
    with pytest.raises(platen.DeadlineError) as ended:
        client.batches.wait(batch_id, timeout=0.3, cancel_on_abort=True)
    assert ended.value.job_id == batch_id
    assert client.batches.get(batch_id).status == "cancelled"


def test_a_render_is_cancelled_with_its_task(control: Control) -> None:
    api_key = control.new_key()

    async def leave_it() -> list[str]:
        async with platen.AsyncClient(control.url, api_key=api_key) as client:
            with anyio.move_on_after(1.5):
                await client.render(html="<p>x</p>", options=SLOW, cancel_on_abort=True)
            return [job.status async for job in client.jobs.list()]

    for backend in ("asyncio", "trio"):
        assert set(anyio.run(leave_it, backend=backend)) == {"cancelled"}


def test_a_pdf_is_streamed_and_refused_before_it_begins(client: Caller) -> None:
    pdf = client.render(html="<p>streamed</p>")
    assert b"".join(client.jobs.stream(pdf.job_id)) == pdf.content
    with pytest.raises(platen.NotFoundError) as caught:
        client.jobs.stream(NOWHERE)
    assert caught.value.job_id == NOWHERE
    batch_id = client.batches.create([{"id": one, "html": f"<p>{one}</p>"} for one in ("a", "b")]).job_id
    client.batches.wait(batch_id)
    assert b"".join(client.batches.stream(batch_id)).startswith(b"PK")
    assert len(PdfReader(io.BytesIO(b"".join(client.batches.stream_merged(batch_id)))).pages) == 2
    assert b"".join(client.batches.stream_pdf(batch_id, "b")) == client.batches.pdf(batch_id, "b")


def test_a_template_is_filled_in_by_its_account(client_of: Callable[..., Caller], control: Control) -> None:
    account = control.new_account("business")
    template_id = control.save_template(account, "<p>Dear {{ name }}, by {{ due | date: '%d.%m.%Y' }}</p>")
    data = {"name": "Ada", "due": datetime(2026, 12, 1, tzinfo=timezone.utc)}
    pdf = client_of(control.url, api_key=account.api_key).render(template_id=template_id, data=data)
    assert "Dear Ada, by 01.12.2026" in text_of(pdf.content)


def test_a_service_that_is_killed_and_started_again_makes_one_job_of_a_call(
    client_of: Callable[..., Caller], control: Control
) -> None:
    retry = platen.Retry(first_pause=0.2, longest_pause=1.0)
    patient = client_of(control.url, api_key=control.new_key(), retry=retry)
    with control.restarting():
        pdf = patient.render(html="<p>survives</p>", options={"delayMs": 3000})
    assert "survives" in text_of(pdf.content)
    assert [job.job_id for job in patient.jobs.list()] == [pdf.job_id]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_two_hundred_renders_go_on_at_once(control: Control, backend: str) -> None:
    api_key = control.new_key()

    async def render_all() -> list[platen.Pdf]:
        pdfs: dict[int, platen.Pdf] = {}
        async with platen.AsyncClient(control.url, api_key=api_key) as client:

            async def render(number: int) -> None:
                pdfs[number] = await client.render(html=f"<p>number {number}.</p>")

            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(render, number)
        return [pdfs[number] for number in range(200)]

    pdfs = anyio.run(render_all, backend=backend)
    assert len({pdf.job_id for pdf in pdfs}) == 200
    for number in (0, 99, 199):
        assert f"number {number}." in text_of(pdfs[number].content)
