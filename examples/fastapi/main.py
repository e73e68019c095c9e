"""FastAPI: a PDF as the response, a PDF in the background, and the callback when that has ended.

PLATEN_URL, PLATEN_API_KEY: the service. PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
Run it with `uvicorn main:app`.
"""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import platen
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    # One client for all requests: it keeps connections.
    async with platen.AsyncClient() as client:
        app.state.platen = client
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/invoices/{number}")
async def invoice(number: int, request: Request) -> Response:
    client: platen.AsyncClient = request.app.state.platen
    job_id = (await client.submit(html=f"<h1>Invoice {number}</h1>", filename=f"invoice-{number}.pdf")).job_id
    await client.jobs.wait(job_id, timeout=60, cancel_on_abort=True)
    return StreamingResponse(await client.jobs.stream(job_id), media_type="application/pdf")


@app.post("/invoices/{number}")
async def submit(number: int, request: Request) -> Response:
    client: platen.AsyncClient = request.app.state.platen
    job = await client.submit(html=f"<h1>Invoice {number}</h1>", webhook_url=os.environ.get("CALLBACK_URL"))
    return JSONResponse({"jobId": job.job_id}, status_code=202)


@app.post("/callbacks")
async def callback(request: Request) -> Response:
    # The body byte for byte as it arrived: the signature is of that.
    body = await request.body()
    try:
        ended = platen.verify_callback(body, request.headers, os.environ["PLATEN_WEBHOOK_SECRET"])
    except platen.SignatureError:
        return Response(status_code=400)
    logging.info("%s %s", ended.event, ended.job_id)
    return Response(status_code=204)


@app.exception_handler(platen.PlatenError)
async def failed(_request: Request, error: platen.PlatenError) -> Response:
    logging.error("%s %s %s %s", error, error.remedy, error.request_id, error.job_id)
    return JSONResponse({"error": "The PDF could not be made.", "code": error.code}, status_code=502)
