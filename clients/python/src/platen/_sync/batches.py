# Made by `make generate` from _async/batches.py; do not edit.
"""Many documents in one request."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Callable, Mapping, Sequence
from contextlib import closing
from typing import Literal
from urllib.parse import quote

import httpx

from .._batch_models import BatchState, Following, Manifest
from .._decoding import decoded
from .._documents import idempotency_header, without_none
from .._download import Writable
from .._events import EventReader
from .._retry import NO_DEADLINE, Backoff, Deadline
from ..errors import ConflictError, about
from ..models import (
    AcceptedBatch,
    Batch,
    BatchItem,
    BatchItemInput,
    BatchList,
    BatchSummary,
    DownloadUrl,
    JobStatus,
)
from .aborts import cancelling
from .download import download, stream
from .primitives import sleep
from .transport import Transport

_PAGE_SIZE = 100
_ITEMS_PAGE_SIZE = 1000
#: The service sends an event or a comment every 15 seconds, the first at once. Where none arrives, something in between
#: buffers them.
_LONGEST_SILENCE = 35.0


class Batches:
    """The batches of an account: `client.batches`."""

    def __init__(self, transport: Transport, polling: Backoff) -> None:
        self._transport = transport
        self._polling = polling

    def create(
        self,
        items: Sequence[BatchItemInput],
        *,
        webhook_url: str | None = None,
        expires_in_hours: int | None = None,
        notes: str | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> AcceptedBatch:
        """Submits a batch: all of its items or none. Returns before any of them is rendered; `wait` follows it.

        Args:
            items: at least two documents, each with an id that is unique within the batch.
            webhook_url: where a signed callback goes when the batch has ended (plans professional and business).
            expires_in_hours: how long the PDFs are kept; else as long as the plan keeps them.
            notes: kept with the batch, for yourself.
            metadata: kept with the batch, for yourself.
            idempotency_key: identifies the batch for 24 hours: a second call with the same key and the same items
                returns the same batch. One is generated for each call unless given.

        Raises:
            BadRequestError: with all of the errors in `messages`.
        """
        body = without_none(
            {
                "items": list(items),
                "webhookUrl": webhook_url,
                "expiresInHours": expires_in_hours,
                "notes": notes,
                "metadata": metadata,
            }
        )
        response = self._transport.send(
            "POST", "/v1/pdf/batch", body=body, headers=idempotency_header(idempotency_key)
        )
        return decoded(AcceptedBatch, response.body)

    def get(self, batch_id: str, *, limit: int | None = None, offset: int | None = None) -> Batch:
        """A batch and its first thousand items; `items` has all of them.

        Args:
            limit: how many items, from 0.
            offset: how many of them to skip.

        Raises:
            NotFoundError: the account has no such batch.
        """
        return self._get(batch_id, {"limit": limit, "offset": offset}, NO_DEADLINE)

    def items(self, batch_id: str) -> Iterator[BatchItem]:
        """All items of a batch in order; pages are fetched as they are needed."""
        offset = 0
        while True:
            page = (self.get(batch_id, limit=_ITEMS_PAGE_SIZE, offset=offset)).items
            for item in page:
                yield item
            if len(page) < _ITEMS_PAGE_SIZE:
                return
            offset += _ITEMS_PAGE_SIZE

    def list(
        self, *, status: JobStatus | None = None, sort: Literal["created_desc", "created_asc"] | None = None
    ) -> Iterator[BatchSummary]:
        """The account's batches, one after the other; pages are fetched as they are needed.

        Args:
            status: only those in this state.
            sort: the newest first, unless it says otherwise.
        """
        seen: set[str] = set()
        offset = 0
        while True:
            query = {"status": status, "sort": sort, "limit": _PAGE_SIZE, "offset": offset}
            response = self._transport.send("GET", "/v1/pdf/batch", query=query)
            page = decoded(BatchList, response.body).batches
            for batch in page:
                # Batches that are new since the last page have pushed others onto this one.
                if batch.job_id not in seen:
                    seen.add(batch.job_id)
                    yield batch
            if len(page) < _PAGE_SIZE:
                return
            offset += _PAGE_SIZE

    def cancel(self, batch_id: str) -> Batch:
        """Cancels what has not begun; what runs is left to end. Cancelling it again changes nothing.

        Raises:
            ConflictError: it has ended otherwise (`JOB_ENDED`).
        """
        return self._cancel(batch_id, NO_DEADLINE)

    def wait(self, batch_id: str, *, timeout: float | None = None, cancel_on_abort: bool = False) -> BatchSummary:
        """Waits until every item of a batch has ended, whatever came of each: `progress.failed` says how many have
        failed.

        Args:
            timeout: in seconds; None to wait as long as it takes.
            cancel_on_abort: cancel the batch when the timeout is over, or the task or program is cancelled.

        Raises:
            NotFoundError: the account has no such batch.
            DeadlineError: it has not ended within the timeout. It goes on, unless `cancel_on_abort` was given.
        """
        following = Following()
        with cancelling(cancel_on_abort, lambda within: self._cancel(batch_id, within)):
            with about(batch_id):
                with closing(self._follow(batch_id, following, Deadline(timeout))) as states:
                    for _ in states:
                        pass
        assert following.summary is not None
        return following.summary

    def follow(self, batch_id: str, *, timeout: float | None = None) -> Generator[BatchState, None]:
        """The state of a batch, each time items have ended, until all of them have. Follows the service's events,
        from where a broken connection had got to; where no events can be had, it polls again and again.

        Args:
            timeout: in seconds; None to follow it as long as it takes.

        Raises:
            NotFoundError: the account has no such batch.
            DeadlineError: it has not ended within the timeout. It goes on.
        """
        with about(batch_id):
            with closing(self._follow(batch_id, Following(), Deadline(timeout))) as states:
                for state in states:
                    yield state

    def download(
        self,
        batch_id: str,
        target: str | os.PathLike[str] | Writable,
        *,
        on_progress: Callable[[int, int | None], object] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Downloads the PDFs of all completed items as a zip.

        Args:
            target: a path, where the file appears once it is whole; or a file that is open for writing in binary mode.
            on_progress: called with the bytes received, and those in all, where the service says so.
            timeout: of the whole download, in seconds; None for none.

        Returns:
            its size in bytes.

        Raises:
            NotFoundError: no item has completed.
            GoneError: the PDFs are kept no longer.
        """
        return self._download(batch_id, "zip", target, on_progress, timeout)

    def stream(self, batch_id: str, *, timeout: float | None = None) -> Generator[bytes, None]:
        """The zip of `download`, piece by piece; otherwise as `jobs.stream`."""
        return self._stream(batch_id, "zip", timeout)

    def download_merged(
        self,
        batch_id: str,
        target: str | os.PathLike[str] | Writable,
        *,
        on_progress: Callable[[int, int | None], object] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Downloads all completed items as one PDF, in order, with a bookmark for each; otherwise as `download`."""
        return self._download(batch_id, "pdf", target, on_progress, timeout)

    def stream_merged(self, batch_id: str, *, timeout: float | None = None) -> Generator[bytes, None]:
        """The PDF of `download_merged`, piece by piece."""
        return self._stream(batch_id, "pdf", timeout)

    def pdf(self, batch_id: str, item_id: str) -> bytes:
        """The PDF of one item.

        Raises:
            NotFoundError: it has not completed.
            GoneError: it is kept no longer.
        """
        with about(batch_id):
            response = self._transport.send("GET", f"{_path(batch_id)}/{quote(item_id, safe='')}")
            return response.body

    def stream_pdf(
        self, batch_id: str, item_id: str, *, timeout: float | None = None
    ) -> Generator[bytes, None]:
        """The PDF of one item, piece by piece."""
        return self._stream(batch_id, quote(item_id, safe=""), timeout)

    def download_url(self, batch_id: str, item_id: str) -> DownloadUrl:
        """An address of an item's PDF for somebody who has no key; it is valid for 15 minutes at most."""
        path = f"{_path(batch_id)}/items/{quote(item_id, safe='')}/download-url"
        return decoded(DownloadUrl, (self._transport.send("GET", path)).body)

    def manifest(self, batch_id: str) -> Manifest:
        """What became of each item, and under which name its PDF is in the zip, with its SHA-256.

        Raises:
            NotFoundError: the batch has not ended.
            GoneError: the PDFs are kept no longer.
        """
        response = self._transport.send("GET", f"{_path(batch_id)}/manifest/download-url")
        link = decoded(DownloadUrl, response.body)
        return decoded(Manifest, (self._transport.send("GET", link.url)).body)

    def _get(self, batch_id: str, query: Mapping[str, int | None], deadline: Deadline) -> Batch:
        with about(batch_id):
            response = self._transport.send("GET", _path(batch_id), query=query, deadline=deadline)
            return decoded(Batch, response.body)

    def _cancel(self, batch_id: str, deadline: Deadline) -> Batch:
        try:
            with about(batch_id):
                response = self._transport.send("DELETE", _path(batch_id), deadline=deadline)
                return decoded(Batch, response.body)
        except ConflictError as error:
            if error.code != "JOB_ENDED":
                raise
            # Perhaps by this very call, when the response to its first attempt was lost.
            batch = self._get(batch_id, {}, deadline)
            if batch.status != "cancelled":
                raise
            return batch

    def _download(
        self,
        batch_id: str,
        file: str,
        target: str | os.PathLike[str] | Writable,
        on_progress: Callable[[int, int | None], object] | None,
        timeout: float | None,
    ) -> int:
        with about(batch_id):
            return download(
                self._transport,
                f"{_path(batch_id)}/{file}",
                target,
                on_progress=on_progress,
                deadline=Deadline(timeout),
            )

    def _stream(self, batch_id: str, file: str, timeout: float | None) -> Generator[bytes, None]:
        with about(batch_id):
            return stream(self._transport, f"{_path(batch_id)}/{file}", deadline=Deadline(timeout))

    def _follow(
        self, batch_id: str, following: Following, deadline: Deadline
    ) -> Generator[BatchState, None]:
        polls = 0
        while True:
            polls += 1
            before = following.last_event_id
            if following.uses_events:
                with closing(self._events(batch_id, following, deadline)) as states:
                    for state in states:
                        if following.is_new(state):
                            yield state
            if following.last_event_id != before:
                polls = 1
            summary = self._summary(batch_id, deadline)
            following.summary = summary
            state = BatchState.of(summary)
            if following.is_new(state):
                yield state
            if summary.finished_at is not None:
                return
            pause = self._polling.pause(polls)
            deadline.check(pause)
            sleep(pause)

    def _events(
        self, batch_id: str, following: Following, deadline: Deadline
    ) -> Generator[BatchState, None]:
        """The events of one connection, for as long as that lasts. Whatever ends it, the caller polls next."""
        last = following.last_event_id
        headers = {"Accept": "text/event-stream", **({} if last is None else {"Last-Event-ID": last})}
        reader = EventReader()
        path = f"{_path(batch_id)}/events"
        try:
            with self._transport.stream(
                path, headers, read_timeout=_LONGEST_SILENCE, deadline=deadline
            ) as response:
                if not following.accept(response.status_code, response.headers.get("content-type", "")):
                    return
                for piece in response.iter_bytes():
                    for event in reader.feed(piece):
                        following.last_event_id = event.id
                        yield decoded(BatchState, event.data)
                        if event.name == "end":
                            return
                    deadline.check()
        except httpx.RequestError as error:
            if isinstance(error, httpx.ReadTimeout) and following.last_event_id is None:
                following.uses_events = False

    def _summary(self, batch_id: str, deadline: Deadline = NO_DEADLINE) -> BatchSummary:
        response = self._transport.send("GET", _path(batch_id), query={"limit": 0}, deadline=deadline)
        return decoded(BatchSummary, response.body)


def _path(batch_id: str) -> str:
    return f"/v1/pdf/batch/{quote(batch_id, safe='')}"
