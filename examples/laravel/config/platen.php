<?php

// PLATEN_URL, PLATEN_API_KEY: the service. PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
return [
    'url' => env('PLATEN_URL', 'http://localhost:8080'),
    'key' => env('PLATEN_API_KEY'),
    'webhook_secret' => env('PLATEN_WEBHOOK_SECRET', ''),
    'callback_url' => env('CALLBACK_URL'),
];
