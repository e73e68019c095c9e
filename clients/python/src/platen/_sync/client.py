# Made by `make generate` from _async/client.py; do not edit.
"""The client of an API key."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from .._decoding import decoded, parsed
from .._documents import Pdf, idempotency_header, pdf_of, render_body, sent_pdf_body
from .._retry import NO_DEADLINE, Backoff, Deadline, Retry, Timeouts
from .._settings import connection_of
from ..errors import ApiError, failed_while_held
from ..models import AcceptedJob, ConversionOptions, PdfValidation, RenderOptions
from .aborts import cancelling
from .batches import Batches
from .jobs import Jobs
from .transport import Transport


class Client:
    """Renders documents, and changes PDFs, with an API key.

    It keeps connections, so make one for many calls, and use it with `with`, or `close` it. Any number of calls
    may go on at once.

    Args:
        base_url: where the service is, such as `https://pdf.example.com`; else PLATEN_URL of the environment.
        api_key: else PLATEN_API_KEY of the environment.
        retry: how a call is repeated.
        timeouts: the bounds of each attempt.
        polling: the pauses between two polls at a job.
        header_prefix: what the service's own headers begin with, where its operator has changed that.
        http_client: what requests are sent with, for a proxy, certificates of your own or the like. It stays yours to
            close.

    Raises:
        ValueError: there is no address or no key.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        polling: Backoff | None = None,
        header_prefix: str = "X-Service-",
        http_client: httpx.Client | None = None,
    ) -> None:
        self._transport = Transport(
            connection_of(base_url, api_key),
            retry=retry or Retry(),
            timeouts=timeouts or Timeouts(),
            http_client=http_client,
        )
        self._header_prefix = header_prefix
        backoff = polling or Backoff(first_pause=0.25, longest_pause=5.0)
        self.jobs = Jobs(self._transport, backoff)
        """Renders that go on in the background."""
        self.batches = Batches(self._transport, backoff)
        """Many documents in one request."""

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept. Calls that go on then fail."""
        self._transport.close()

    def render(
        self,
        *,
        html: str | None = None,
        url: str | None = None,
        template_id: str | None = None,
        template_version_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        filename: str | None = None,
        options: RenderOptions | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        cancel_on_abort: bool = False,
    ) -> Pdf:
        """Renders a document, however long it takes: a render that the service goes on with in the background is
        followed to its end.

        Args:
            html: the document; or
            url: the address of a web page; or
            template_id: a saved template. Exactly one of these three.
            template_version_id: a version of the template; else the present one.
            data: values of the template's variables.
            filename: what the PDF is called where it is downloaded.
            options: how it is to be printed, as docs/options.md lists.
            idempotency_key: identifies the render for 24 hours: a second call with the same key and the same document
                returns the same PDF. One is generated for each call unless given.
            timeout: of the whole call, in seconds; None for none.
            cancel_on_abort: cancel the render when the timeout is over, or the task or program is cancelled. It is
                submitted to the background then, and is another request to an idempotency key.

        Raises:
            RenderError: the document could not be rendered.
            ApiError: the service refuses it; see its subclasses.
            UnreachableError: the service cannot be reached.
            DeadlineError: the timeout is over. The render goes on, unless `cancel_on_abort` was given. Its `job_id` is
                there once the service has named it: from the start with `cancel_on_abort`.
            TypeError: there is not exactly one source, or `data` is not JSON.
        """
        document = render_body(
            html=html,
            url=url,
            template_id=template_id,
            template_version_id=template_version_id,
            data=data,
            filename=filename,
            options=options,
        )
        return self._order("/v1/pdf", document, idempotency_key, Deadline(timeout), cancel_on_abort)

    def convert(
        self,
        pdf: bytes | Pdf | None = None,
        *,
        job_id: str | None = None,
        filename: str | None = None,
        options: ConversionOptions | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        cancel_on_abort: bool = False,
    ) -> Pdf:
        """Makes another PDF of one that exists, with attachments, a seal or the like. Other arguments and errors are
        those of `render`.

        Args:
            pdf: the PDF; or
            job_id: a job of the account whose PDF is still kept.
            options: what is to be made of it, as docs/guide/existing-pdfs.md says.
        """
        body = sent_pdf_body(pdf, job_id, filename=filename, options=options)
        return self._order("/v1/pdf/convert", body, idempotency_key, Deadline(timeout), cancel_on_abort)

    def fill(
        self,
        pdf: bytes | Pdf | None = None,
        *,
        values: Mapping[str, str | float | bool | Sequence[str] | None],
        job_id: str | None = None,
        flatten: bool | None = None,
        filename: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        cancel_on_abort: bool = False,
    ) -> Pdf:
        """Fills in the fields of a PDF. Other arguments and errors are those of `convert`.

        Args:
            values: by the names of fields.
            flatten: whether the fields become a part of the pages.
        """
        body = sent_pdf_body(pdf, job_id, values=values, flatten=flatten, filename=filename)
        return self._order("/v1/pdf/fill", body, idempotency_key, Deadline(timeout), cancel_on_abort)

    def flatten(
        self,
        pdf: bytes | Pdf | None = None,
        *,
        job_id: str | None = None,
        filename: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        cancel_on_abort: bool = False,
    ) -> Pdf:
        """Makes the fields of a PDF a part of its pages. Arguments and errors are those of `convert`."""
        body = sent_pdf_body(pdf, job_id, filename=filename)
        return self._order("/v1/pdf/flatten", body, idempotency_key, Deadline(timeout), cancel_on_abort)

    def validate(
        self, pdf: bytes | Pdf | None = None, *, job_id: str | None = None, timeout: float | None = None
    ) -> PdfValidation:
        """What a PDF claims, and whether it holds. One that cannot be read is no error: its check `file` has failed."""
        body = sent_pdf_body(pdf, job_id)
        response = self._transport.send("POST", "/v1/pdf/validate", body=body, deadline=Deadline(timeout))
        return decoded(PdfValidation, response.body)

    def _order(
        self, path: str, order: dict[str, Any], idempotency_key: str | None, deadline: Deadline, cancel_on_abort: bool
    ) -> Pdf:
        if cancel_on_abort:
            return self._order_to_cancel(path, order, idempotency_key or str(uuid.uuid4()), deadline)
        body = {**order, "output": "binary", "executionMode": "sync"}
        try:
            response = self._transport.send(
                "POST", path, body=body, headers=idempotency_header(idempotency_key), deadline=deadline
            )
        except ApiError as error:
            failed = failed_while_held(error)
            if failed is None:
                raise
            raise failed from error
        if response.status == 200:
            return pdf_of(response.body, response.headers, self._header_prefix)
        return self.jobs._result(decoded(AcceptedJob, response.body).job_id, deadline)

    def _order_to_cancel(self, path: str, order: dict[str, Any], idempotency_key: str, deadline: Deadline) -> Pdf:
        """In the background, where the job has a name before it is waited for."""
        job_id: str | None = None

        def cancel(within: Deadline) -> None:
            # Where no response has come yet, the same request again says which job it is.
            known = job_id or (self._submit(path, order, idempotency_key, within)).job_id
            self.jobs._cancel(known, within)

        with cancelling(True, cancel):
            job_id = (self._submit(path, order, idempotency_key, deadline)).job_id
            return self.jobs._result(job_id, deadline)

    def submit(
        self,
        *,
        html: str | None = None,
        url: str | None = None,
        template_id: str | None = None,
        template_version_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        filename: str | None = None,
        options: RenderOptions | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> AcceptedJob:
        """Submits a render to the background; `jobs.result` returns its PDF. Arguments are as those of `render`.

        Args:
            webhook_url: where a signed callback goes when the render has ended (plans professional and business).
        """
        document = render_body(
            html=html,
            url=url,
            template_id=template_id,
            template_version_id=template_version_id,
            data=data,
            filename=filename,
            options=options,
        )
        if webhook_url is not None:
            document["webhookUrl"] = webhook_url
        return self._submit("/v1/pdf", document, idempotency_key, NO_DEADLINE)

    def _submit(
        self, path: str, order: dict[str, Any], idempotency_key: str | None, deadline: Deadline
    ) -> AcceptedJob:
        body = {**order, "executionMode": "async"}
        headers = idempotency_header(idempotency_key)
        response = self._transport.send("POST", path, body=body, headers=headers, deadline=deadline)
        return decoded(AcceptedJob, response.body)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Any route of the API, for what this class has no method for: `client.request("GET", "/v1/pdf/jobs")`.

        Returns:
            the JSON of the response; bytes where it is something else; None where it is empty.

        Raises:
            ApiError, UnreachableError, DeadlineError: as by all calls.
        """
        return request_any(self._transport, method, path, query, body, headers, Deadline(timeout))


def request_any(
    transport: Transport,
    method: str,
    path: str,
    query: Mapping[str, Any] | None,
    body: Any,
    headers: Mapping[str, str] | None,
    deadline: Deadline,
) -> Any:
    """Sends a request to any route, and reads its response by its content type."""
    if not path.startswith("/"):
        raise ValueError(f"path must begin with a slash: {path}")
    response = transport.send(method.upper(), path, query=query, body=body, headers=headers, deadline=deadline)
    if not response.body:
        return None
    is_json = response.headers.get("content-type", "").startswith("application/json")
    return parsed(response.body) if is_json else response.body
