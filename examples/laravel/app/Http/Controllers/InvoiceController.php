<?php

namespace App\Http\Controllers;

use App\Services\Platen;
use Illuminate\Http\Client\RequestException;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Log;

/** A PDF as the response, and a PDF in the background. */
class InvoiceController extends Controller
{
    public function show(Platen $platen, int $number): Response|JsonResponse
    {
        try {
            $pdf = $platen->render(['html' => view('invoice', ['number' => $number])->render()]);
        } catch (RequestException $error) {
            Log::error($error->response->body());
            $code = $error->response->json('code');
            return response()->json(['error' => 'The PDF could not be made.', 'code' => $code], 502);
        }
        return response($pdf, 200, ['Content-Type' => 'application/pdf']);
    }

    public function store(Platen $platen, int $number): JsonResponse
    {
        $html = view('invoice', ['number' => $number])->render();
        $jobId = $platen->submit(['html' => $html], "invoice-{$number}", config('platen.callback_url'));
        return response()->json(['jobId' => $jobId], 202);
    }
}
