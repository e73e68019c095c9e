"""Flask: a PDF as the response, a PDF in the background, and the callback when that has ended.

PLATEN_URL, PLATEN_API_KEY: the service. PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
Run it with `flask run`.
"""

import os

import platen
from flask import Flask, Response, request

app = Flask(__name__)
# One client for all requests: it keeps connections, and threads may share it.
client = platen.Client()


@app.get("/invoices/<int:number>")
def invoice(number: int) -> Response:
    job_id = client.submit(html=f"<h1>Invoice {number}</h1>", filename=f"invoice-{number}.pdf").job_id
    client.jobs.wait(job_id, timeout=60, cancel_on_abort=True)
    return Response(client.jobs.stream(job_id), mimetype="application/pdf")


@app.post("/invoices/<int:number>")
def submit(number: int) -> tuple[dict[str, str], int]:
    job = client.submit(html=f"<h1>Invoice {number}</h1>", webhook_url=os.environ.get("CALLBACK_URL"))
    return {"jobId": job.job_id}, 202


@app.post("/callbacks")
def callback() -> tuple[str, int]:
    # The body byte for byte as it arrived: the signature is of that.
    try:
        ended = platen.verify_callback(request.get_data(), request.headers, os.environ["PLATEN_WEBHOOK_SECRET"])
    except platen.SignatureError:
        return "", 400
    app.logger.info("%s %s", ended.event, ended.job_id)
    return "", 204


@app.errorhandler(platen.PlatenError)
def failed(error: platen.PlatenError) -> tuple[dict[str, str | None], int]:
    app.logger.error("%s %s %s %s", error, error.remedy, error.request_id, error.job_id)
    return {"error": "The PDF could not be made.", "code": error.code}, 502
