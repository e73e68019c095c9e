"""A proxy that stands between a client and the service, and does not let events through as they come."""

from __future__ import annotations

from typing import Any

import httpx

from trouble import Exchange, _Server


class CuttingProxy(_Server):
    """Passes requests on. Of the events of a batch it lets one through for each connection, unless it is the end.

    Args:
        refusal: a status, with which it answers instead whoever asks for events.
    """

    def __init__(self, target: str, refusal: int | None = None) -> None:
        self.last_event_ids: list[str | None] = []
        self._refusal = refusal
        self._http = httpx.Client(base_url=target, timeout=240)
        super().__init__()

    def serve(self, exchange: Exchange) -> None:
        seen = exchange.seen
        headers = {name: value for name, value in seen.headers.items() if name not in ("host", "connection")}
        if not seen.path.endswith("/events"):
            answer = self._http.request(seen.method, seen.path, headers=headers, content=seen.body)
            exchange.answer(answer.status_code, answer.content, {"content-type": answer.headers["content-type"]})
            return
        self.last_event_ids.append(seen.headers.get("last-event-id"))
        if self._refusal is not None:
            exchange.answer(self._refusal, b"<h1>not here</h1>", {"content-type": "text/html"})
            return
        exchange.handler.close_connection = True
        with self._http.stream("GET", seen.path, headers=headers) as events:
            # More is promised than comes.
            kind = events.headers.get("content-type", "")
            exchange.answer(events.status_code, b"", {"content-type": kind, "content-length": "1000000"})
            for piece in events.iter_bytes():
                exchange.handler.wfile.write(piece)
                if b"event: " in piece:
                    return

    def __exit__(self, *why: Any) -> None:
        super().__exit__(*why)
        self._http.close()
