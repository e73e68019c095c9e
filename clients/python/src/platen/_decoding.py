"""From JSON to values of Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from .errors import UnexpectedResponseError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Model(Protocol[T_co]):
    """A class of `models`."""

    def from_json(self, data: Mapping[str, Any], /) -> T_co: ...


def time_of(text: str) -> datetime:
    """A time of the API, with its zone. Python 3.10 does not read the Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def maybe(decode: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else decode(value)


def each(decode: Callable[[Any], T]) -> Callable[[list[Any]], list[T]]:
    return lambda values: [decode(value) for value in values]


def each_value(decode: Callable[[Any], T]) -> Callable[[dict[str, Any]], dict[str, T]]:
    return lambda values: {name: decode(value) for name, value in values.items()}


def parsed(body: bytes | str) -> Any:
    """JSON of the service.

    Raises:
        UnexpectedResponseError: it is none.
    """
    try:
        return json.loads(body)
    except ValueError as error:
        raise UnexpectedResponseError(f"The response is not JSON: {error}.") from error


def decoded(model: Model[T], body: bytes | str) -> T:
    """What a response holds. Fields that this version does not know are left out.

    Raises:
        UnexpectedResponseError: it is not what the API's document says, so perhaps not Platen's.
    """
    data = parsed(body)
    try:
        return model.from_json(data)
    except KeyError as error:
        raise UnexpectedResponseError(f"The response has no field {error}.") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise UnexpectedResponseError(f"The response is not as the API's document says: {error}.") from error


def decoded_first(models: Sequence[Model[Any]], body: bytes | str) -> Any:
    """What a response holds that may be one of several models: the first that has all of its fields."""
    for model in models[:-1]:
        try:
            return decoded(model, body)
        except UnexpectedResponseError:
            continue
    return decoded(models[-1], body)


def encoded(value: Any) -> bytes:
    """The JSON of a request. Dates and UUIDs go as texts, which templates can format.

    Raises:
        TypeError: something in it is not JSON, such as a Decimal, of which only the caller knows whether it is to be a
            text or a number.
        ValueError: a number is not finite, or a text has half of a surrogate pair.
    """
    text = json.dumps(value, default=_text, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def _text(value: object) -> str:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    name = type(value).__name__
    raise TypeError(f"{name} is not JSON: give {value!r} as a text or a number")
