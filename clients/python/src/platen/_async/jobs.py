"""Renders that go on in the background."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Literal
from urllib.parse import quote

from .._decoding import decoded
from .._documents import Pdf
from .._download import Writable
from .._retry import NO_DEADLINE, Backoff, Deadline
from ..errors import ConflictError, about, render_error
from ..models import DownloadUrl, JobList, JobRecord, JobStatus, RenderReport
from .aborts import cancelling
from .download import download, stream
from .primitives import sleep
from .transport import AsyncTransport

_PAGE_SIZE = 100


class AsyncJobs:
    """The jobs of an account: `client.jobs`."""

    def __init__(self, transport: AsyncTransport, polling: Backoff) -> None:
        self._transport = transport
        self._polling = polling

    async def get(self, job_id: str) -> JobRecord:
        """The status record of a job, as it is now.

        Raises:
            NotFoundError: the account has no such job.
        """
        return await self._get(job_id, NO_DEADLINE)

    async def list(
        self, *, status: JobStatus | None = None, sort: Literal["created_desc", "created_asc"] | None = None
    ) -> AsyncIterator[JobRecord]:
        """The account's jobs, one after the other; pages are fetched as they are needed.

        Args:
            status: only those in this state.
            sort: the newest first, unless it says otherwise.
        """
        seen: set[str] = set()
        offset = 0
        while True:
            query = {"status": status, "sort": sort, "limit": _PAGE_SIZE, "offset": offset}
            response = await self._transport.send("GET", "/v1/pdf/jobs", query=query)
            page = decoded(JobList, response.body).jobs
            for job in page:
                # Jobs that are new since the last page have pushed others onto this one.
                if job.job_id not in seen:
                    seen.add(job.job_id)
                    yield job
            if len(page) < _PAGE_SIZE:
                return
            offset += _PAGE_SIZE

    async def wait(self, job_id: str, *, timeout: float | None = None, cancel_on_abort: bool = False) -> JobRecord:
        """Waits until a job has completed.

        Args:
            timeout: in seconds; None to wait as long as it takes.
            cancel_on_abort: cancel the job when the timeout is over, or the task or program is cancelled.

        Raises:
            RenderError: it has failed for good, or was cancelled.
            DeadlineError: it has not ended within the timeout. It goes on, unless `cancel_on_abort` was given.
        """
        async with cancelling(cancel_on_abort, lambda within: self._cancel(job_id, within)):
            return await self._wait(job_id, Deadline(timeout))

    async def result(self, job_id: str, *, timeout: float | None = None, cancel_on_abort: bool = False) -> Pdf:
        """Waits until a job has completed, and fetches its PDF.

        Args:
            timeout: in seconds; None to wait as long as it takes.
            cancel_on_abort: cancel the job when the timeout is over, or the task or program is cancelled.

        Raises:
            RenderError: it has failed for good, or was cancelled.
            NotFoundError: its PDF is kept no longer.
            DeadlineError: it has not ended within the timeout. It goes on, unless `cancel_on_abort` was given.
        """
        async with cancelling(cancel_on_abort, lambda within: self._cancel(job_id, within)):
            return await self._result(job_id, Deadline(timeout))

    async def cancel(self, job_id: str) -> JobRecord:
        """Cancels a job; cancelling it again changes nothing.

        Raises:
            ConflictError: it has completed or failed (`JOB_ENDED`).
        """
        return await self._cancel(job_id, NO_DEADLINE)

    async def download(
        self,
        job_id: str,
        target: str | os.PathLike[str] | Writable,
        *,
        on_progress: Callable[[int, int | None], object] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Downloads the PDF of a job that has completed, without holding it in memory.

        Args:
            target: a path, where the file appears once it is whole; or a file that is open for writing in binary mode.
            on_progress: called with the bytes received, and those in all, where the service says so.
            timeout: of the whole download, in seconds; None for none.

        Returns:
            its size in bytes.

        Raises:
            NotFoundError: it has not completed, or its PDF is kept no longer.
        """
        with about(job_id):
            return await download(
                self._transport, f"{_path(job_id)}/file", target, on_progress=on_progress, deadline=Deadline(timeout)
            )

    async def stream(self, job_id: str, *, timeout: float | None = None) -> AsyncGenerator[bytes, None]:
        """The PDF of a job that has completed, piece by piece, such as for the response of a web framework. A
        connection that breaks off is taken up where it broke.

        Args:
            timeout: of the whole, in seconds; None for none.

        Returns:
            once the first bytes are there, so that an error can still become a response of yours.

        Raises:
            NotFoundError: it has not completed, or its PDF is kept no longer.
        """
        with about(job_id):
            return await stream(self._transport, f"{_path(job_id)}/file", deadline=Deadline(timeout))

    async def report(self, job_id: str) -> RenderReport:
        """What was found out about a render that was asked for with ``report``; of one that has failed, too."""
        response = await self._transport.send("GET", f"{_path(job_id)}/report")
        return decoded(RenderReport, response.body)

    async def download_url(self, job_id: str) -> DownloadUrl:
        """An address of the job's PDF for somebody who has no key; it is valid for 15 minutes at most."""
        response = await self._transport.send("GET", f"{_path(job_id)}/download-url")
        return decoded(DownloadUrl, response.body)

    async def _get(self, job_id: str, deadline: Deadline) -> JobRecord:
        with about(job_id):
            response = await self._transport.send("GET", _path(job_id), deadline=deadline)
            return decoded(JobRecord, response.body)

    async def _cancel(self, job_id: str, deadline: Deadline) -> JobRecord:
        try:
            with about(job_id):
                response = await self._transport.send("DELETE", _path(job_id), deadline=deadline)
                return decoded(JobRecord, response.body)
        except ConflictError as error:
            if error.code != "JOB_ENDED":
                raise
            # Perhaps by this very call, when the response to its first attempt was lost.
            job = await self._get(job_id, deadline)
            if job.status != "cancelled":
                raise
            return job

    async def _wait(self, job_id: str, deadline: Deadline) -> JobRecord:
        polls = 0
        while True:
            polls += 1
            job = await self._get(job_id, deadline)
            if job.status == "completed":
                return job
            if job.status in ("failed", "cancelled"):
                raise render_error(job, self._transport.base_url)
            pause = self._polling.pause(polls)
            with about(job_id):
                deadline.check(pause)
            await sleep(pause)

    async def _result(self, job_id: str, deadline: Deadline) -> Pdf:
        job = await self._wait(job_id, deadline)
        with about(job_id):
            response = await self._transport.send("GET", f"{_path(job_id)}/file", deadline=deadline)
        return Pdf(
            content=response.body,
            job_id=job_id,
            pages=job.pages,
            processing_time_ms=job.processing_time_ms,
            expires_at=job.output_expires_at,
        )


def _path(job_id: str) -> str:
    return f"/v1/pdf/jobs/{quote(job_id, safe='')}"
