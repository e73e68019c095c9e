"""Client of Platen: HTML, a web page or a saved template in, a PDF out."""

from __future__ import annotations

from ._async.account import AsyncAccountClient
from ._async.batches import AsyncBatches
from ._async.client import AsyncClient
from ._async.jobs import AsyncJobs
from ._batch_models import BatchState, Manifest, ManifestItem
from ._documents import Pdf
from ._retry import Backoff, Retry, Timeouts
from ._settings import __version__
from ._sync.account import AccountClient
from ._sync.batches import Batches
from ._sync.client import Client
from ._sync.jobs import Jobs
from .callbacks import Callback, verify_callback
from .errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DeadlineError,
    GoneError,
    NotFoundError,
    PermissionDeniedError,
    PlatenError,
    RateLimitError,
    RenderError,
    ServerError,
    SignatureError,
    TooLargeError,
    UnexpectedResponseError,
    UnreachableError,
)
from .models import (
    AcceptedBatch,
    AcceptedJob,
    Batch,
    BatchItem,
    BatchItemInput,
    BatchProgress,
    BatchSummary,
    ConversionOptions,
    DownloadUrl,
    ErrorCode,
    Failure,
    ItemStatus,
    JobRecord,
    JobStatus,
    Margin,
    PdfMetadata,
    PdfValidation,
    RenderOptions,
    RenderReport,
    Watermark,
)

__all__ = [
    "AcceptedBatch",
    "AcceptedJob",
    "AccountClient",
    "ApiError",
    "AsyncAccountClient",
    "AsyncBatches",
    "AsyncClient",
    "AsyncJobs",
    "AuthenticationError",
    "Backoff",
    "BadRequestError",
    "Batch",
    "BatchItem",
    "BatchItemInput",
    "BatchProgress",
    "BatchState",
    "BatchSummary",
    "Batches",
    "Callback",
    "Client",
    "ConflictError",
    "ConversionOptions",
    "DeadlineError",
    "DownloadUrl",
    "ErrorCode",
    "Failure",
    "GoneError",
    "ItemStatus",
    "JobRecord",
    "JobStatus",
    "Jobs",
    "Manifest",
    "ManifestItem",
    "Margin",
    "NotFoundError",
    "Pdf",
    "PdfMetadata",
    "PdfValidation",
    "PermissionDeniedError",
    "PlatenError",
    "RateLimitError",
    "RenderError",
    "RenderOptions",
    "RenderReport",
    "Retry",
    "ServerError",
    "SignatureError",
    "Timeouts",
    "TooLargeError",
    "UnexpectedResponseError",
    "UnreachableError",
    "Watermark",
    "__version__",
    "verify_callback",
]
