"""Documents to render, and the PDFs of them."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from ._decoding import time_of
from .models import RenderOptions


@dataclass(frozen=True, kw_only=True)
class Pdf:
    """A rendered document."""

    content: bytes = field(repr=False)
    job_id: str
    pages: int
    processing_time_ms: int
    expires_at: datetime | None
    """When the service stops keeping the PDF."""

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the PDF to a file, which is overwritten if it is there."""
        Path(path).write_bytes(self.content)

    async def asave(self, path: str | os.PathLike[str]) -> None:
        """As `save`, without keeping an event loop waiting for the disk."""
        await anyio.to_thread.run_sync(self.save, path)


def pdf_of(content: bytes, headers: Mapping[str, str], prefix: str) -> Pdf:
    """The PDF of an response.

    Args:
        prefix: what the service's own headers begin with.
    """
    expires_at = headers.get(f"{prefix}Expires-At")
    return Pdf(
        content=content,
        job_id=headers.get(f"{prefix}Job-Id", ""),
        pages=int(headers.get(f"{prefix}Pages", "0")),
        processing_time_ms=int(headers.get(f"{prefix}Processing-Time-Ms", "0")),
        expires_at=time_of(expires_at) if expires_at else None,
    )


def render_body(
    *,
    html: str | None,
    url: str | None,
    template_id: str | None,
    template_version_id: str | None,
    data: Mapping[str, Any] | None,
    filename: str | None,
    options: RenderOptions | None,
) -> dict[str, Any]:
    """The body of a render's request.

    Raises:
        TypeError: there is not exactly one source.
    """
    sources = {"html": html, "url": url, "template_id": template_id}
    given = [name for name, value in sources.items() if value is not None]
    if len(given) != 1:
        raise TypeError(f"give exactly one of html, url and template_id, not {' and '.join(given) or 'none'}")
    if template_id is None and (data is not None or template_version_id is not None):
        raise TypeError("data and template_version_id are for a template_id")
    body = {
        "html": html,
        "url": url,
        "templateId": template_id,
        "templateVersionId": template_version_id,
        "data": data,
        "filename": filename,
        "options": options,
    }
    return without_none(body)


def sent_pdf_body(pdf: bytes | Pdf | None, job_id: str | None, **fields: Any) -> dict[str, Any]:
    """The body of a request about a PDF that exists.

    Raises:
        TypeError: there is not exactly one PDF.
    """
    if (pdf is None) == (job_id is None):
        raise TypeError("give exactly one of pdf and job_id")
    content = pdf.content if isinstance(pdf, Pdf) else pdf
    encoded = None if content is None else base64.b64encode(content).decode("ascii")
    return without_none({"pdf": encoded, "jobId": job_id, **fields})


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields that are given."""
    return {name: value for name, value in fields.items() if value is not None}


def idempotency_header(idempotency_key: str | None) -> dict[str, str]:
    """The header that makes a submission repeatable."""
    return {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
