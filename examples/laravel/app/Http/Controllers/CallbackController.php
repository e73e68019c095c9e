<?php

namespace App\Http\Controllers;

use App\Services\Platen;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Log;

/** The callback when a render in the background has ended. */
class CallbackController extends Controller
{
    public function __invoke(Request $request, Platen $platen): Response
    {
        $signed = $platen->isSigned(
            $request->getContent(),
            $request->header('X-Service-Delivery-Id', ''),
            $request->header('X-Service-Timestamp', ''),
            $request->header('X-Service-Signature-V2', ''),
        );
        if (!$signed) {
            return response('', 400);
        }
        Log::info($request->json('event'), ['jobId' => $request->json('jobId')]);
        return response()->noContent();
    }
}
