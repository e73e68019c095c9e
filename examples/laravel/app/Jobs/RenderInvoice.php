<?php

namespace App\Jobs;

use App\Services\Platen;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Queue\Queueable;
use Illuminate\Support\Facades\Storage;

/** Renders an invoice on the queue, and stores it. */
class RenderInvoice implements ShouldQueue
{
    use Queueable;

    public int $tries = 3;

    public int $timeout = 120;

    public function __construct(public int $number) {}

    public function handle(Platen $platen): void
    {
        $html = view('invoice', ['number' => $this->number])->render();
        Storage::put("invoices/{$this->number}.pdf", $platen->render(['html' => $html]));
    }
}
