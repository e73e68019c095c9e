"""What goes wrong between a client and a service, step by step, on a real connection."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime

import anyio
import httpx
import pytest

import platen
from callers import Caller, cancel_when
from trouble import (
    JOB,
    PDF,
    TroubledServer,
    VanishingServer,
    drip,
    half_a_pdf,
    hang_up,
    pdf,
    refuse,
    silence,
)

HTML = "<p>x</p>"
UUID = re.compile(r"[0-9a-f-]{36}")
QUICK = platen.Retry(first_pause=0.02, longest_pause=0.1, give_up_after=20)
TIMEOUTS = platen.Timeouts(connect=5, read=3)
#: For servers of which it does not matter how often a living one seems silent.
SHORT = platen.Timeouts(connect=5, read=1)


@pytest.fixture
def troubled_client(client_of: Callable[..., Caller], troubled: TroubledServer) -> Caller:
    return client_of(troubled.url, api_key="sk_live_x", retry=QUICK, timeouts=TIMEOUTS)


def test_a_render_is_asked_for_again_under_the_same_name_until_it_is_answered(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    troubled.steps = [
        hang_up,
        refuse(503, "UNAVAILABLE"),
        refuse(500, "INTERNAL"),
        refuse(429, "TOO_MANY_WAITING"),
        refuse(409, "IDEMPOTENCY_IN_PROGRESS"),
        half_a_pdf,
        silence,
        pdf,
    ]
    rendered = troubled_client.render(html=HTML)
    assert (rendered.content, rendered.job_id, rendered.pages) == (PDF, JOB, 1)
    assert len(troubled.seen) == 8
    assert len({seen.key for seen in troubled.seen}) == 1
    assert UUID.fullmatch(troubled.seen[0].key or "")
    assert len({seen.body for seen in troubled.seen}) == 1


def test_every_call_has_a_name_of_its_own_unless_the_caller_gives_one(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    troubled.steps = [pdf, pdf, pdf]
    for key in (None, None, "invoice-66"):
        troubled_client.render(html=HTML, idempotency_key=key)
    first, second, third = (seen.key for seen in troubled.seen)
    assert first != second
    assert third == "invoice-66"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that clients make, in seconds; none of them is waited for."""
    noted: list[float] = []

    async def sleep(seconds: float) -> None:
        noted.append(seconds)

    monkeypatch.setattr("platen._sync.transport.sleep", noted.append)
    monkeypatch.setattr("platen._async.transport.sleep", sleep)
    return noted


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_a_client_comes_back_no_sooner_than_it_is_told_to(
    troubled_client: Caller, troubled: TroubledServer, pauses: list[float], as_date: bool
) -> None:
    at = datetime.now(timezone.utc) + timedelta(seconds=600)
    header = format_datetime(at, usegmt=True) if as_date else "7"
    troubled.steps = [refuse(429, "RATE_LIMITED", {"retry-after": header}), pdf]
    if as_date:
        with pytest.raises(platen.RateLimitError):
            troubled_client.render(html=HTML)
        assert pauses == [], "that is later than it goes on"
    else:
        troubled_client.render(html=HTML)
        assert 7 <= pauses[0] <= 7.1


def test_a_client_comes_back_sooner_or_later_by_chance_and_less_and_less_often(
    troubled_client: Caller, troubled: TroubledServer, pauses: list[float]
) -> None:
    troubled.steps = [*[refuse(503, "UNAVAILABLE") for _ in range(8)], pdf]
    troubled_client.render(html=HTML)
    means = [0.02, 0.04, 0.08, *[0.1] * 5]
    assert len(pauses) == 8
    assert all(0.5 * mean <= pause <= 1.5 * mean for mean, pause in zip(means, pauses, strict=True))
    assert len(set(pauses)) == 8


def test_a_client_does_not_come_back_at_all_when_it_is_told_to_come_too_late(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    troubled.steps = [refuse(503, "UNAVAILABLE", {"retry-after": "30"}), pdf]
    with pytest.raises(platen.ServerError) as caught:
        troubled_client.render(html=HTML)
    assert (caught.value.status, caught.value.code) == (503, "UNAVAILABLE")
    assert len(troubled.seen) == 1


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "VALIDATION", platen.BadRequestError),
        (401, "UNAUTHENTICATED", platen.AuthenticationError),
        (403, "QUOTA_EXCEEDED", platen.PermissionDeniedError),
        (404, "NOT_FOUND", platen.NotFoundError),
        (409, "IDEMPOTENCY_MISMATCH", platen.ConflictError),
        (410, "GONE", platen.GoneError),
        (413, "INPUT_TOO_LARGE", platen.TooLargeError),
    ],
)
def test_what_another_try_cannot_mend_is_raised_at_once(
    troubled_client: Caller, troubled: TroubledServer, status: int, code: str, kind: type[platen.ApiError]
) -> None:
    troubled.steps = [refuse(status, code, remedy="do so", docsUrl="https://example.com/errors"), pdf]
    with pytest.raises(kind) as caught:
        troubled_client.render(html=HTML)
    error = caught.value
    assert (error.status, error.code, error.message, error.request_id) == (status, code, "it is so", "r")
    assert (error.remedy, error.docs_url) == ("do so", "https://example.com/errors")
    assert str(error) == f"{status} {code}: it is so (request r)"
    assert len(troubled.seen) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(504, "RENDER_TIMEOUT"), (500, "RENDER_FAILED"), (400, "SELECTOR_TIMEOUT")]
)
def test_a_render_that_failed_is_not_tried_again(
    troubled_client: Caller, troubled: TroubledServer, status: int, code: str
) -> None:
    troubled.steps = [refuse(status, code, jobId=JOB), pdf]
    with pytest.raises(platen.RenderError) as caught:
        troubled_client.render(html=HTML)
    error = caught.value
    assert (error.code, error.job_id, error.status, error.request_id) == (code, JOB, status, "r")
    assert error.job is None
    assert len(troubled.seen) == 1


def test_a_post_without_a_name_is_repeated_only_when_it_was_refused_with_429(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    troubled.steps = [refuse(429, "RATE_LIMITED"), refuse(503, "UNAVAILABLE"), pdf]
    with pytest.raises(platen.ServerError):
        troubled_client.request("POST", "/user/api-keys", body={"name": "key"})
    assert len(troubled.seen) == 2
    troubled.steps = [hang_up, pdf]
    with pytest.raises(platen.UnreachableError):
        troubled_client.request("POST", "/user/api-keys", body={"name": "key"})
    assert len(troubled.seen) == 3
    assert {seen.key for seen in troubled.seen} == {None}


def test_an_answer_that_did_not_come_from_the_service_is_told_apart(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    html = {"content-type": "text/html"}
    troubled.steps = [lambda exchange: exchange.answer(403, b"<h1>No</h1>", html)]
    with pytest.raises(platen.PermissionDeniedError) as caught:
        troubled_client.jobs.get(JOB)
    assert (caught.value.code, caught.value.request_id) == (None, None)
    assert str(caught.value) == "403: The service responded with 403."
    troubled.steps = [
        lambda exchange: exchange.answer(200, b"<h1>Hello</h1>", html),
        lambda exchange: exchange.json(200, {"jobId": JOB}),
        lambda exchange: exchange.json(200, []),
    ]
    for why in ("not JSON", "no field 'status'", "not as the API's document says"):
        with pytest.raises(platen.UnexpectedResponseError, match=why):
            troubled_client.jobs.get(JOB)


def test_a_redirect_is_not_followed_since_the_key_would_go_elsewhere(
    troubled_client: Caller, troubled: TroubledServer, vanishing: VanishingServer
) -> None:
    troubled.steps = [lambda exchange: exchange.answer(302, b"", {"location": f"{vanishing.url}/v1/pdf"})]
    with pytest.raises(platen.ApiError) as caught:
        troubled_client.render(html=HTML)
    assert caught.value.status == 302
    assert vanishing.seen == []


def test_a_cancel_is_taken_as_done_when_the_answer_to_its_first_try_was_lost(
    troubled_client: Caller, troubled: TroubledServer
) -> None:
    record = {
        **dict.fromkeys(["downloadUrlEndpoint", "fileName"], ""),
        **dict.fromkeys(["pdfSize", "pages", "processingTimeMs", "attemptCount", "maxAttempts"], 0),
        **dict.fromkeys(["outputAvailable", "willRetry", "deadLettered"], False),
        **dict.fromkeys(["completedAt", "outputExpiresAt", "retryAttempt", "error"]),
        **dict.fromkeys(["createdAt", "updatedAt"], "2026-11-22T02:24:00.000Z"),
        "jobId": JOB,
        "status": "cancelled",
        "inputMode": "html",
        "outputMode": "binary",
        "aFieldOfTomorrow": 1,
    }
    troubled.steps = [hang_up, refuse(409, "JOB_ENDED"), lambda exchange: exchange.json(200, record)]
    job = troubled_client.jobs.cancel(JOB)
    assert job.status == "cancelled"
    assert job.created_at == datetime(2026, 11, 22, 2, 24, tzinfo=timezone.utc)
    assert [seen.method for seen in troubled.seen] == ["DELETE", "DELETE", "GET"]


def test_a_call_ends_with_its_timeout_whatever_the_service_does(
    client_of: Callable[..., Caller], troubled: TroubledServer
) -> None:
    patient = client_of(troubled.url, api_key="x", retry=QUICK, timeouts=platen.Timeouts(read=60))
    for step in (silence, drip, refuse(503, "UNAVAILABLE", {"retry-after": "19"})):
        troubled.steps = [step, pdf]
        with pytest.raises(platen.DeadlineError, match=r"within 1 s") as caught:
            patient.render(html=HTML, timeout=1)
        assert isinstance(caught.value, TimeoutError)
        assert troubled.steps == [pdf]
    assert isinstance(caught.value.__cause__, platen.ServerError)
    assert patient.render(html=HTML, timeout=30).content == PDF


def test_a_service_that_is_not_there_is_given_up_on(client_of: Callable[..., Caller]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    retry = platen.Retry(first_pause=0.02, longest_pause=0.1, give_up_after=0.5)
    lost = client_of(f"http://127.0.0.1:{port}/", api_key="x", retry=retry)
    with pytest.raises(platen.UnreachableError, match=r"No response from http://[\d.:]+ after \d+ attempts") as caught:
        lost.jobs.get(JOB)
    assert isinstance(caught.value, ConnectionError)
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


def test_an_address_that_has_never_led_to_a_server_is_given_up_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with platen.Client(f"http://127.0.0.1:{port}", api_key="x") as lost:
        # By its usual patience of two minutes it would take ten attempts.
        with pytest.raises(platen.UnreachableError, match=rf"{port} after [2-6] attempts") as caught:
            lost.jobs.get(JOB)
    assert caught.value.job_id == JOB


def test_a_server_that_vanishes_is_left_and_the_order_keeps_its_name(
    client_of: Callable[..., Caller], vanishing: VanishingServer
) -> None:
    caller = client_of(vanishing.url, api_key="x", retry=QUICK, timeouts=SHORT)
    caller.render(html=HTML)
    vanishing.vanish()
    before = len(vanishing.seen)
    assert caller.render(html=HTML).content == PDF
    tries = vanishing.seen[before:]
    assert len(tries) >= 2
    assert tries[0].connection == vanishing.seen[0].connection
    assert len({seen.key for seen in tries}) == 1
    assert len({seen.connection for seen in tries}) == len(tries)


def test_an_answer_that_does_not_go_on_is_left_and_asked_for_again(
    client_of: Callable[..., Caller], vanishing: VanishingServer
) -> None:
    caller = client_of(vanishing.url, api_key="x", retry=QUICK, timeouts=SHORT)
    vanishing.half_answers = 1
    assert caller.render(html=HTML).content == PDF
    assert len({seen.key for seen in vanishing.seen}) == 1
    assert len(vanishing.seen) >= 2


def test_what_is_not_json_is_refused_before_anything_is_sent(troubled_client: Caller, troubled: TroubledServer) -> None:
    with pytest.raises(TypeError, match="Decimal is not JSON"):
        troubled_client.render(template_id=JOB, data={"total": Decimal("19.90")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        troubled_client.render(template_id=JOB, data={"total": float("nan")})
    with pytest.raises(TypeError, match="exactly one of html, url and template_id, not html and url"):
        troubled_client.render(html=HTML, url="https://example.com/")
    with pytest.raises(TypeError, match="not none"):
        troubled_client.submit()
    with pytest.raises(TypeError, match="for a template_id"):
        troubled_client.render(html=HTML, data={})
    assert troubled.seen == []
    troubled.steps = [pdf]
    due = datetime(2026, 12, 1, tzinfo=timezone(timedelta(hours=1)))
    troubled_client.render(template_id=JOB, data={"due": due, "day": due.date()})
    assert b'{"due":"2026-12-01T00:00:00+01:00","day":"2026-12-01"}' in troubled.seen[0].body


def test_a_client_needs_an_address_and_a_key(monkeypatch: pytest.MonkeyPatch, troubled: TroubledServer) -> None:
    monkeypatch.delenv("PLATEN_URL", raising=False)
    monkeypatch.delenv("PLATEN_API_KEY", raising=False)
    for kind in (platen.Client, platen.AsyncClient):
        with pytest.raises(ValueError, match="PLATEN_API_KEY"):
            kind("http://localhost:8080")
        with pytest.raises(ValueError, match="PLATEN_URL"):
            kind(api_key="x")
        with pytest.raises(ValueError, match="http://"):
            kind("localhost:8080", api_key="x")
    monkeypatch.setenv("PLATEN_URL", f"{troubled.url}/")
    # As it is read from a file.
    monkeypatch.setenv("PLATEN_API_KEY", "sk_live_x\n")
    troubled.steps = [pdf]
    with platen.Client() as client:
        client.render(html=HTML)
    seen = troubled.seen[0]
    assert (seen.path, seen.headers["x-api-key"]) == ("/v1/pdf", "sk_live_x")
    assert seen.headers["user-agent"].startswith("platen-python/")


def test_a_key_is_in_no_text_that_is_shown() -> None:
    with platen.Client("http://localhost:1", api_key="sk_live_secret") as client:
        shown = [repr(client), repr(client._transport), repr(client._transport._connection)]
    assert "sk_live_secret" not in "".join(shown)


def test_an_http_client_of_ones_own_is_used_and_left_open(troubled: TroubledServer) -> None:
    troubled.steps = [pdf, pdf]
    with httpx.Client(headers={"x-mine": "yes"}) as http_client:
        with platen.Client(troubled.url, api_key="x", http_client=http_client) as client:
            client.render(html=HTML)
        http_client.get(troubled.url)
    assert [seen.headers["x-mine"] for seen in troubled.seen] == ["yes", "yes"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_task_that_is_cancelled_ends_and_asks_for_nothing_more(troubled: TroubledServer, backend: str) -> None:
    troubled.steps = [silence, pdf]

    async def cancelled() -> bool:
        async with platen.AsyncClient(troubled.url, api_key="x", retry=QUICK) as client:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(cancel_when, lambda: len(troubled.seen) > 0, scope)
                    await client.render(html=HTML)
            return scope.cancelled_caught

    assert anyio.run(cancelled, backend=backend)
    assert troubled.steps == [pdf]


def test_many_threads_share_one_client(troubled: TroubledServer) -> None:
    troubled.steps = [pdf] * 50
    with platen.Client(troubled.url, api_key="x", retry=QUICK) as client:
        threads = [threading.Thread(target=lambda: client.render(html=HTML)) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({seen.key for seen in troubled.seen}) == 50
