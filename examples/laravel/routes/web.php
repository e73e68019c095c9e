<?php

use App\Http\Controllers\CallbackController;
use App\Http\Controllers\InvoiceController;
use Illuminate\Support\Facades\Route;

Route::get('/invoices/{number}', [InvoiceController::class, 'show'])->whereNumber('number');
Route::post('/invoices/{number}', [InvoiceController::class, 'store'])->whereNumber('number');
Route::post('/callbacks', CallbackController::class);
