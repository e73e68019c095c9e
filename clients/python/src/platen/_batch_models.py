"""What is current of batches outside of the schemas of the API's document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._decoding import each, maybe, time_of
from .models import BatchProgress, BatchSummary, Failure, ItemStatus, JobStatus


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """How a batch stands at a moment."""

    job_id: str
    status: JobStatus
    progress: BatchProgress
    estimated_completion_time: datetime | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchState:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            progress=BatchProgress.from_json(data["progress"]),
            estimated_completion_time=maybe(time_of)(data["estimatedCompletionTime"]),
        )

    @classmethod
    def of(cls, batch: BatchSummary) -> BatchState:
        return cls(
            job_id=batch.job_id,
            status=batch.status,
            progress=batch.progress,
            estimated_completion_time=batch.estimated_completion_time,
        )


@dataclass(frozen=True, kw_only=True)
class ManifestItem:
    """What the manifest of a batch says of an item."""

    item_id: str
    file_name: str
    """As in the zip."""
    status: ItemStatus
    size: int
    """Bytes; 0 without a PDF."""
    pages: int
    sha256: str | None
    """Hexadecimal; None without a PDF."""
    error: Failure | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ManifestItem:
        return cls(
            item_id=data["itemId"],
            file_name=data["fileName"],
            status=data["status"],
            size=data["size"],
            pages=data["pages"],
            sha256=data["sha256"],
            error=maybe(Failure.from_json)(data["error"]),
        )


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What became of each item of a batch, and under which name its PDF is in the zip."""

    job_id: str
    created_at: datetime
    items: list[ManifestItem]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Manifest:
        return cls(
            job_id=data["jobId"],
            created_at=time_of(data["createdAt"]),
            items=each(ManifestItem.from_json)(data["items"]),
        )


class Following:
    """What is known of a batch that is followed."""

    def __init__(self) -> None:
        self.last_event_id: str | None = None
        self.uses_events = True
        """Whether events can be had, as far as is known."""
        self.summary: BatchSummary | None = None
        """As of the last poll."""
        self._last: tuple[object, ...] | None = None

    def is_new(self, state: BatchState) -> bool:
        """Whether items have ended since the last one."""
        progress = state.progress
        current = (state.status not in ("queued", "processing"), progress.completed, progress.failed)
        if current == self._last:
            return False
        self._last = current
        return True

    def accept(self, status: int, content_type: str) -> bool:
        """Takes note of the response to a request for events. Returns whether it is a stream of them."""
        if status == 200 and content_type.startswith("text/event-stream"):
            return True
        self.uses_events = status == 429 or status >= 500
        return False
