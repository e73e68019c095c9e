"""Server-sent events (HTML standard, section 9.2)."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BLOCK_END = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    name: str
    id: str | None
    """Of this event, or the last one before it that had one."""
    data: str


class EventReader:
    """Events from a stream's bytes, however they are cut."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._last_id: str | None = None

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that are whole by now. Comments, which keep a connection alive, are none."""
        *blocks, self._rest = _BLOCK_END.split(self._rest + self._text.decode(data))
        return [event for event in map(self._parse, blocks) if event.data]

    def _parse(self, block: str) -> ServerEvent:
        name = "message"
        data: list[str] = []
        for line in _LINE_END.split(block):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                name = value
            elif field == "id":
                self._last_id = value
            elif field == "data":
                data.append(value)
        return ServerEvent(name, self._last_id, "\n".join(data))
