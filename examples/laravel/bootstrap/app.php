<?php

use Illuminate\Foundation\Application;
use Illuminate\Foundation\Configuration\Middleware;

return Application::configure(basePath: dirname(__DIR__))
    ->withRouting(web: __DIR__ . '/../routes/web.php')
    ->withMiddleware(function (Middleware $middleware): void {
        // The signature of a callback takes the place of the token for forms.
        $middleware->validateCsrfTokens(except: ['callbacks']);
    })
    ->create();
