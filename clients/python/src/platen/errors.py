"""What can go wrong. Every exception of this package is a `PlatenError`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._remedies import REMEDIES

if TYPE_CHECKING:
    from .models import JobRecord


class PlatenError(Exception):
    """Whatever this package raises. All of its attributes are None where they are not known."""

    message: str
    code: str | None = None
    """As docs/errors.md lists them (`ErrorCode`); None when the response is not Platen's."""
    status: int | None = None
    """HTTP status of the response."""
    request_id: str | None = None
    """Names the request in the service's log."""
    job_id: str | None = None
    """The job, or the batch, that the call was about."""
    remedy: str | None = None
    """What to do about it, where the service says so."""
    docs_url: str | None = None
    """Where more about it is to be read, where the service says so."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ApiError(PlatenError):
    """The service has refused a request, and repeating it did not help or was of no use."""

    status: int
    messages: tuple[str, ...]
    """Every error of the request; one entry for most codes."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        fields = error_body(body)
        message = fields.get("message") or f"The service responded with {status}."
        self.messages = tuple(map(str, message)) if isinstance(message, list) else (str(message),)
        super().__init__("; ".join(self.messages))
        self.status = status
        self.code = fields.get("code")
        self.request_id = fields.get("requestId") or headers.get("x-request-id")
        self.job_id = fields.get("jobId")
        self.remedy = fields.get("remedy")
        self.docs_url = fields.get("docsUrl")

    def __str__(self) -> str:
        named = " ".join(str(part) for part in (self.status, self.code) if part is not None)
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{named}: {self.message}{request}"


class BadRequestError(ApiError):
    """400: something in the request is not valid."""


class AuthenticationError(ApiError):
    """401: the key or token is missing, wrong or revoked."""


class PermissionDeniedError(ApiError):
    """403: the plan, its quota, or the key's list of addresses does not allow it."""


class NotFoundError(ApiError):
    """404: there is no such thing, or not any more, or it is another account's."""


class ConflictError(ApiError):
    """409: an Idempotency-Key that was used with another body, or a job that has ended."""


class GoneError(ApiError):
    """410: what is asked for is kept no longer."""


class TooLargeError(ApiError):
    """413: more than the plan allows in one request."""


class RateLimitError(ApiError):
    """429, for longer than the client repeats the request."""


class ServerError(ApiError):
    """5xx, for longer than the client repeats the request."""


class RenderError(PlatenError):
    """A document could not be rendered, or its job was cancelled; `code` says why. Repeating it is of no use: the
    service has done so, where that could help."""

    job_id: str
    code: str
    job: JobRecord | None = None
    """The job's record; None when the render failed while the service held the request."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message} (job {self.job_id})"


class UnreachableError(PlatenError, ConnectionError):
    """There was no response; `__cause__` has the last reason."""

    def __init__(self, base_url: str, attempts: int, why: object) -> None:
        count = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(f"No response from {base_url} after {count}: {why}")


class DeadlineError(PlatenError, TimeoutError):
    """The `timeout` of a call is over. What was submitted goes on, unless `cancel_on_abort` was given: `cancel` ends
    it, by the `job_id`."""


class UnexpectedResponseError(PlatenError):
    """A response that is not as the API's document says: perhaps the address is not Platen's."""


class SignatureError(PlatenError, ValueError):
    """A callback that is not known to come from the service: it must not be acted upon."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: TooLargeError,
    429: RateLimitError,
}


def api_error(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """The exception for a response that is an error."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    return kind(status, headers, body)


def render_error(job: JobRecord, base_url: str) -> RenderError:
    """The exception for a job that has failed or was cancelled.

    Args:
        base_url: of the service, which has the documentation.
    """
    failure = job.error
    error = RenderError(failure.message if failure else f"The job has {job.status}.")
    error.code = failure.code if failure else job.status.upper()
    error.job_id = job.job_id
    error.job = job
    error.remedy = REMEDIES.get(error.code)
    error.docs_url = f"{base_url}/docs/errors#{error.code}" if error.remedy else None
    return error


def failed_while_held(error: ApiError) -> RenderError | None:
    """The exception for a render that failed while the service held its request; None when it was refused."""
    if error.job_id is None or error.code is None:
        return None
    failed = RenderError(error.message)
    failed.code = error.code
    failed.job_id = error.job_id
    failed.status = error.status
    failed.request_id = error.request_id
    failed.remedy = error.remedy
    failed.docs_url = error.docs_url
    return failed


@contextmanager
def about(job_id: str) -> Iterator[None]:
    """Names the job, or the batch, in whatever the package raises about it."""
    try:
        yield
    except PlatenError as error:
        if error.job_id is None:
            error.job_id = job_id
        raise


def is_abort(error: BaseException) -> bool:
    """Whether a call ends by the will of its caller: its time is over, or its task or program is cancelled."""
    return isinstance(error, DeadlineError) or not isinstance(error, Exception)


def error_body(body: bytes) -> Mapping[str, Any]:
    """The fields of an error's body; empty when it is not Platen's."""
    try:
        fields = json.loads(body)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) and "code" in fields and "message" in fields else {}
