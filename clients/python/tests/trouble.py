"""Servers that do what a network does to a caller, on real connections."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

JOB = "3f0e1c58-8a11-4a53-9a0b-1c1f1d4c9a11"
PDF = b"%PDF-1.7 and so on, at some length"


@dataclass(frozen=True)
class Seen:
    """A request as it came, whether or not it was answered."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")


class Exchange:
    """A request, and the connection that its answer goes to."""

    def __init__(self, handler: BaseHTTPRequestHandler, seen: Seen, closing: threading.Event) -> None:
        self.seen = seen
        self.handler = handler
        self.closing = closing

    def answer(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        sent = {"content-length": str(len(body)), **(headers or {})}
        self.handler.send_response(status)
        for name, value in sent.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        self.answer(status, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})})


Step = Callable[[Exchange], None]


class _Server:
    """An HTTP server on a port of its own; `serve` says how it answers."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._closing = threading.Event()
        serve = self.serve
        seen_by = self.seen
        closing = self._closing

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    # Whoever asked has gone.
                    self.close_connection = True

            def _handle(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, body, self.client_address[1])
                seen_by.append(seen)
                serve(Exchange(self, seen, closing))

            do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = _handle

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def serve(self, exchange: Exchange) -> None:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class TroubledServer(_Server):
    """Answers step by step as a test says; when there are no more steps it hangs up."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        super().__init__()

    def serve(self, exchange: Exchange) -> None:
        (self.steps.pop(0) if self.steps else hang_up)(exchange)


class VanishingServer(_Server):
    """An address that leads to one server after the other, as that of a Service does. When the one of the present
    vanishes, its connections stay open, take requests and answer none; those made afterwards lead to the next one."""

    def __init__(self) -> None:
        self._gone: set[int] = set()
        self.half_answers = 0
        super().__init__()

    def vanish(self) -> None:
        """Whoever has asked by now has a connection that leads nowhere."""
        self._gone |= {seen.connection for seen in self.seen}

    def serve(self, exchange: Exchange) -> None:
        if exchange.seen.connection in self._gone:
            silence(exchange)
        elif exchange.seen.path.endswith(("/zip", "/file", "/v1/pdf")):
            headers = {"content-type": "application/pdf", "x-service-job-id": JOB, "etag": '"one"'}
            if self.half_answers > 0:
                self.half_answers -= 1
                exchange.answer(200, PDF[:9], {**headers, "content-length": str(len(PDF))})
                silence(exchange)
            else:
                exchange.answer(200, PDF, headers)
        else:
            exchange.json(200, {"jobId": JOB})


def refuse(status: int, code: str, headers: Mapping[str, str] | None = None, **fields: Any) -> Step:
    body = {"statusCode": status, "error": "x", "message": "it is so", "code": code, "requestId": "r", **fields}
    return lambda exchange: exchange.json(status, body, headers)


def hang_up(exchange: Exchange) -> None:
    exchange.handler.close_connection = True
    exchange.handler.connection.shutdown(socket.SHUT_RDWR)


def pdf(exchange: Exchange) -> None:
    exchange.answer(200, PDF, {"content-type": "application/pdf", "x-service-job-id": JOB, "x-service-pages": "1"})


def half_a_pdf(exchange: Exchange) -> None:
    exchange.answer(200, PDF[:5], {"content-type": "application/pdf", "content-length": str(len(PDF))})
    hang_up(exchange)


def silence(exchange: Exchange) -> None:
    exchange.handler.close_connection = True
    exchange.closing.wait(60)


def drip(exchange: Exchange) -> None:
    """An answer that never ends, and never falls silent."""
    exchange.answer(200, b"", {"content-type": "application/pdf", "content-length": "1000000"})
    while not exchange.closing.is_set():
        exchange.handler.wfile.write(b"x")
        time.sleep(0.05)
