"""Callbacks: verifying that they come from the service, and their content. docs/callbacks.md has more."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._decoding import decoded, maybe, time_of
from .errors import SignatureError
from .models import Failure, JobStatus

_SECRET_PREFIX = "whsec_"
_VERSION = "v2,"


@dataclass(frozen=True, kw_only=True)
class Callback:
    """A batch or a render has ended. It is a signal, which may come twice: keep the delivery ids that you have seen,
    and ask the service for what matters."""

    delivery_id: str
    """Names the callback; the same with every attempt."""
    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    """`webhook.test` is what `POST /user/webhook-deliveries/test` sends."""
    job_id: str
    status: JobStatus
    status_url: str
    completed_at: datetime | None
    zip_url: str | None
    """Of a batch."""
    file_url: str | None
    """Of a render that has completed."""
    error: Failure | None
    """Of a render that has failed."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Callback:
        return cls(
            delivery_id=data["deliveryId"],
            event=data["event"],
            job_id=data["jobId"],
            status=data["status"],
            status_url=data["statusUrl"],
            completed_at=maybe(time_of)(data.get("completedAt")),
            zip_url=data.get("zipUrl"),
            file_url=data.get("fileUrl"),
            error=maybe(Failure.from_json)(data.get("error")),
        )


def verify_callback(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300.0,
    header_prefix: str = "X-Service-",
) -> Callback:
    """Makes sure that a callback comes from the service, and was sent just now.

    Args:
        body: of the request, byte for byte as it arrived, not parsed.
        headers: of the request, in capitals or not, as any framework has them.
        secret: `whsec_…`, from `POST /user/webhook-keys/rotate`; or several, of which one has to match.
        tolerance: how old it may be, and how far ahead of this machine's clock, in seconds.
        header_prefix: what the service's own headers begin with, where its operator has changed that.

    Raises:
        SignatureError: it is not known to come from the service. Respond with 400, and do not act upon it.
        ValueError: the secret is none.
    """
    keys = [_key_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("no secret to verify the callback with")
    given = {name.lower(): value for name, value in headers.items()}
    prefix = header_prefix.lower()
    delivery_id = given.get(f"{prefix}delivery-id", "")
    timestamp = given.get(f"{prefix}timestamp", "")
    signatures = given.get(f"{prefix}signature-v2", "")
    if not delivery_id or not timestamp or not signatures:
        raise SignatureError(f"The request has no {header_prefix}Delivery-Id, -Timestamp and -Signature-V2.")
    if not re.fullmatch(r"[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > tolerance:
        raise SignatureError(f"It was not sent within {tolerance:g} s of now, but at {timestamp!r}.")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{delivery_id}.{timestamp}.".encode() + raw
    if not any(_fits(key, signed, one) for key in keys for one in signatures.split(" ")):
        raise SignatureError("None of its signatures was made with the secret.")
    return decoded(_WithDeliveryId(delivery_id), raw)


class _WithDeliveryId:
    """The body of a callback, whose name is in a header."""

    def __init__(self, delivery_id: str) -> None:
        self._delivery_id = delivery_id

    def from_json(self, data: Mapping[str, Any], /) -> Callback:
        return Callback.from_json({**data, "deliveryId": self._delivery_id})


def _key_of(secret: str) -> bytes:
    text = secret.strip()
    if not text.startswith(_SECRET_PREFIX):
        raise ValueError(f"a secret begins with {_SECRET_PREFIX}")
    try:
        key = base64.b64decode(text[len(_SECRET_PREFIX) :], validate=True)
    except binascii.Error as error:
        raise ValueError(f"a secret is {_SECRET_PREFIX} and base64: {error}") from error
    if not key:
        raise ValueError(f"nothing follows {_SECRET_PREFIX} in the secret")
    return key


def _fits(key: bytes, signed: bytes, given: str) -> bool:
    if not given.startswith(_VERSION):
        return False
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return hmac.compare_digest(given[len(_VERSION) :].encode(), expected)
