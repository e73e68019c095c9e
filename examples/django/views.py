"""Django: a PDF as the response, a PDF in the background, and the callback when that has ended.

PLATEN_URL, PLATEN_API_KEY: the service. PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
"""

import logging
import os
from functools import cache

import platen
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST


@cache
def client() -> platen.Client:
    """One for all requests: it keeps connections, and threads may share it."""
    return platen.Client()


class Invoice(View):
    def get(self, request: HttpRequest, number: int) -> HttpResponseBase:
        job_id = client().submit(html=f"<h1>Invoice {number}</h1>", filename=f"invoice-{number}.pdf").job_id
        client().jobs.wait(job_id, timeout=60, cancel_on_abort=True)
        return StreamingHttpResponse(client().jobs.stream(job_id), content_type="application/pdf")

    def post(self, request: HttpRequest, number: int) -> HttpResponseBase:
        job = client().submit(html=f"<h1>Invoice {number}</h1>", webhook_url=os.environ.get("CALLBACK_URL"))
        return JsonResponse({"jobId": job.job_id}, status=202)

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except platen.PlatenError as error:
            logging.error("%s %s %s %s", error, error.remedy, error.request_id, error.job_id)
            return JsonResponse({"error": "The PDF could not be made.", "code": error.code}, status=502)


# The signature takes the place of the token for forms.
@csrf_exempt
@require_POST
def callback(request: HttpRequest) -> HttpResponse:
    # The body byte for byte as it arrived: the signature is of that.
    try:
        ended = platen.verify_callback(request.body, request.headers, os.environ["PLATEN_WEBHOOK_SECRET"])
    except platen.SignatureError:
        return HttpResponse(status=400)
    logging.info("%s %s", ended.event, ended.job_id)
    return HttpResponse(status=204)
