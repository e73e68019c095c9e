<?php

namespace App\Services;

use Illuminate\Http\Client\PendingRequest;
use Illuminate\Http\Client\RequestException;
use Illuminate\Http\Client\Response;
use Illuminate\Support\Facades\Http;
use Illuminate\Support\Sleep;
use Illuminate\Support\Str;
use RuntimeException;

/** Renders documents. */
class Platen
{
    /**
     * Renders a document, and waits for it.
     *
     * @param array<string, mixed> $document html, url or templateId with data; filename; options.
     * @return string the PDF.
     * @throws RequestException when the service rejects the request, or the document cannot be rendered.
     */
    public function render(array $document): string
    {
        $response = $this->post($document, (string) Str::uuid());
        if ($response->status() === 200) {
            return $response->body();
        }
        // 202: it takes longer than the service waits, and goes on as a job.
        $jobId = $response->json('jobId');
        for ($poll = 0; $poll < 240; $poll++) {
            Sleep::for(250)->milliseconds();
            $status = $this->http()->get("/v1/pdf/jobs/{$jobId}")->throw()->json('status');
            if (!in_array($status, ['queued', 'processing'], true)) {
                return $this->file($jobId);
            }
        }
        throw new RuntimeException("Job {$jobId} takes longer than a minute.");
    }

    /**
     * Has a document rendered in the background.
     *
     * @param array<string, mixed> $document
     * @param string $idempotencyKey names the document: the same key never renders it twice within 24 hours.
     * @return string the id of the job.
     */
    public function submit(array $document, string $idempotencyKey, ?string $callbackUrl = null): string
    {
        $request = ['executionMode' => 'async'] + $document;
        if ($callbackUrl !== null) {
            $request['webhookUrl'] = $callbackUrl;
        }
        return $this->post($request, $idempotencyKey)->json('jobId');
    }

    /** The PDF of a job that has ended. If the job has failed, this throws its error. */
    public function file(string $jobId): string
    {
        return $this->http()->get("/v1/pdf/jobs/{$jobId}/file")->throw()->body();
    }

    /** Whether a callback was signed with our key, within the last five minutes. The body is as it arrived. */
    public function isSigned(string $body, string $deliveryId, string $timestamp, string $signatures): bool
    {
        if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
            return false;
        }
        $key = base64_decode(substr(config('platen.webhook_secret'), strlen('whsec_')));
        $signature = base64_encode(hash_hmac('sha256', "{$deliveryId}.{$timestamp}.{$body}", $key, true));
        // While a key is being rotated there are two signatures.
        foreach (explode(' ', $signatures) as $given) {
            if (hash_equals("v2,{$signature}", $given)) {
                return true;
            }
        }
        return false;
    }

    /** @param array<string, mixed> $request */
    private function post(array $request, string $idempotencyKey): Response
    {
        return $this->http()
            ->withHeaders(['Idempotency-Key' => $idempotencyKey])
            ->post('/v1/pdf', $request)
            ->throw();
    }

    private function http(): PendingRequest
    {
        return Http::baseUrl(config('platen.url'))
            ->withHeaders(['X-API-Key' => config('platen.key')])
            ->timeout(45);
    }
}
