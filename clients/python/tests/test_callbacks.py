"""Callbacks of a real service, and such as are not its own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

import platen
from callers import Caller
from control import Control

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = (
    b'{"event":"batch.completed","jobId":"j","status":"completed","statusUrl":"https://x/s",'
    b'"zipUrl":"https://x/z","completedAt":"2026-11-22T02:24:00.000Z"}'
)


def signed(
    body: bytes = BODY, *, secret: str = SECRET, age: int = 0, delivery_id: str = "d-1", others: str = ""
) -> dict[str, str]:
    """The headers of a callback, made as docs/callbacks.md says."""
    timestamp = str(int(time.time()) - age)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{delivery_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "X-Service-Delivery-Id": delivery_id,
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature-V2": f"{others}v2,{base64.b64encode(mac).decode()}",
        "X-Service-Key-Id": "k-1",
    }


def test_a_callback_with_a_right_signature_says_what_has_ended() -> None:
    callback = platen.verify_callback(BODY, signed(), SECRET)
    assert (callback.event, callback.job_id, callback.delivery_id) == ("batch.completed", "j", "d-1")
    assert callback.completed_at is not None and callback.completed_at.hour == 2
    assert (callback.zip_url, callback.file_url, callback.error) == ("https://x/z", None, None)
    lower = {name.lower(): value for name, value in signed().items()}
    assert platen.verify_callback(BODY.decode(), lower, SECRET) == callback


def test_a_callback_that_was_sent_to_try_the_receiver_is_known() -> None:
    body = b'{"event":"webhook.test","jobId":"j","status":"completed","statusUrl":"https://x/s"}'
    assert platen.verify_callback(body, signed(body), SECRET).event == "webhook.test"


def test_a_callback_is_taken_while_a_key_is_being_replaced() -> None:
    new = "whsec_" + base64.b64encode(b"n" * 32).decode()
    both = signed(others=signed(secret=new)["X-Service-Signature-V2"] + " ")
    for secret in (SECRET, new, [new, SECRET]):
        assert platen.verify_callback(BODY, both, secret).job_id == "j"
    # A receiver that knows the new one as well takes what only the old one has signed.
    assert platen.verify_callback(BODY, signed(), [new, SECRET]).job_id == "j"


@pytest.mark.parametrize(
    ("body", "headers", "why"),
    [
        (BODY, lambda: signed(secret="whsec_" + base64.b64encode(b"x" * 32).decode()), "None of its signatures"),
        (BODY + b" ", lambda: signed(), "None of its signatures"),
        (BODY, lambda: {**signed(), "X-Service-Delivery-Id": "d-2"}, "None of its signatures"),
        (BODY, lambda: {**signed(), "X-Service-Timestamp": str(int(time.time()) + 1)}, "None of its signatures"),
        (BODY, lambda: {**signed(), "X-Service-Signature-V2": "v1,AAAA é"}, "None of its signatures"),
        (BODY, lambda: signed(age=301), "not sent within 300 s"),
        (BODY, lambda: signed(age=-400), "not sent within 300 s"),
        (BODY, lambda: {**signed(), "X-Service-Timestamp": "1e9"}, "not sent within 300 s"),
        (BODY, lambda: {**signed(), "X-Service-Timestamp": "9" * 5000}, "not sent within 300 s"),
        (BODY, lambda: {}, "has no X-Service-Delivery-Id"),
    ],
    ids=["secret", "body", "id", "time", "scheme", "old", "early", "number", "long", "bare"],
)
def test_a_callback_that_may_be_somebody_elses_is_refused(
    body: bytes, headers: Callable[[], Mapping[str, str]], why: str
) -> None:
    with pytest.raises(platen.SignatureError, match=why):
        platen.verify_callback(body, headers(), SECRET)


def test_an_old_callback_is_taken_by_whoever_wants_that() -> None:
    assert platen.verify_callback(BODY, signed(age=301), SECRET, tolerance=3600).job_id == "j"


@pytest.mark.parametrize("secret", ["", "secret", "whsec_", "whsec_%%%", []])
def test_a_secret_that_is_none_is_a_fault_of_the_receiver(secret: str | list[str]) -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        platen.verify_callback(BODY, signed(), secret)
    assert not isinstance(caught.value, platen.SignatureError)


class Receiver:
    """Takes callbacks over https, at an address that stands for the public internet."""

    def __init__(self) -> None:
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.has_received = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver.has_received:
                    receiver.received.append((dict(self.headers.items()), body))
                    receiver.has_received.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.9.9.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["PLATEN_TEST_CERTIFICATE"])
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        self.url = f"https://127.9.9.1:{self._server.server_address[1]}/hook"

    def wait_for(self, count: int) -> list[tuple[dict[str, str], bytes]]:
        with self.has_received:
            assert self.has_received.wait_for(lambda: len(self.received) >= count, timeout=240)
            return list(self.received)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver(control: Control) -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def test_callbacks_of_the_service_are_verified_also_after_its_key_was_replaced(
    client_of: Callable[..., Caller], control: Control, receiver: Receiver
) -> None:
    account = control.new_account("professional")

    def new_secret() -> str:
        headers = {"Authorization": f"Bearer {account.token}"}
        answer = httpx.post(f"{control.url}/user/webhook-keys/rotate", headers=headers)
        return str(answer.json()["secret"])

    client = client_of(control.url, api_key=account.api_key)
    old = new_secret()
    new = new_secret()
    batch_id = client.batches.create(
        [{"id": "a", "html": "a"}, {"id": "b", "html": "b"}], webhook_url=receiver.url
    ).job_id
    job_id = client.submit(html="x", webhook_url=receiver.url).job_id
    failed_id = client.submit(
        html="x", options={"waitForSelector": "#n", "timeoutMs": 1000}, webhook_url=receiver.url
    ).job_id
    received = receiver.wait_for(3)
    for secret in (old, new, [SECRET, new]):
        callbacks = [platen.verify_callback(body, headers, secret) for headers, body in received]
        by_event = {callback.event: callback for callback in callbacks}
        assert by_event["batch.completed"].job_id == batch_id
        assert by_event["render.completed"].job_id == job_id
        failed = by_event["render.failed"]
        assert (failed.job_id, failed.error and failed.error.code) == (failed_id, "SELECTOR_TIMEOUT")
        assert len({callback.delivery_id for callback in callbacks}) == 3
    for headers, body in received:
        with pytest.raises(platen.SignatureError):
            platen.verify_callback(body, headers, SECRET)
        with pytest.raises(platen.SignatureError):
            platen.verify_callback(body.replace(b"completed", b"cancelled").replace(b"failed", b"done"), headers, new)
