"""What a program does with the client of openapi-python-client."""

import os
import time
from pathlib import Path

from generated import AuthenticatedClient
from generated.api.batches import create_batch, download_batch_zip, get_batch
from generated.api.jobs import get_job
from generated.api.rendering import render_pdf
from generated.models import BatchItemInput, BatchRequest, RenderOptions, RenderRequest
from generated.models.render_request_execution_mode import RenderRequestExecutionMode

folder = Path(os.environ["SAVE_IN"])
client = AuthenticatedClient(
    base_url=os.environ["PLATEN_URL"],
    token=os.environ["PLATEN_API_KEY"],
    prefix="",
    auth_header_name="X-API-Key",
    timeout=120,
)

request = RenderRequest(html="<p>Python</p>")
(folder / "render.pdf").write_bytes(render_pdf.sync_detailed(client=client, body=request).content)

request.execution_mode = RenderRequestExecutionMode.ASYNC
job = render_pdf.sync(client=client, body=request)
status = job.status
while status in ("queued", "processing"):
    time.sleep(0.1)
    status = get_job.sync(job.job_id, client=client).status
print("job", status.value)

request.options = RenderOptions(scale=9)
failure = render_pdf.sync_detailed(client=client, body=request)
print("error", failure.status_code.value, failure.parsed.code.value, failure.parsed.message[0])

items = [BatchItemInput(id=id, html=f"<p>{id}</p>") for id in ("a", "b")]
batch_id = create_batch.sync(client=client, body=BatchRequest(items=items)).job_id
status = "queued"
while status in ("queued", "processing"):
    time.sleep(0.1)
    status = get_batch.sync(batch_id, client=client).status
(folder / "batch.zip").write_bytes(download_batch_zip.sync_detailed(batch_id, client=client).content)
print("batch", status.value)
