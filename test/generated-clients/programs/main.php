<?php
// What a program does with the PHP client of openapi-generator. It lies beside `lib`.
declare(strict_types=1);

use OpenAPI\Client\Api\BatchesApi;
use OpenAPI\Client\Api\JobsApi;
use OpenAPI\Client\Api\RenderingApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\BatchItemInput;
use OpenAPI\Client\Model\BatchRequest;
use OpenAPI\Client\Model\RenderOptions;
use OpenAPI\Client\Model\RenderRequest;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
    if (is_file($file)) require $file;
});

$save = fn (string $name, SplFileObject $file) => copy($file->getPathname(), getenv('SAVE_IN') . "/$name");
$configuration = (new Configuration())
    ->setHost(getenv('PLATEN_URL'))
    ->setApiKey('X-API-Key', getenv('PLATEN_API_KEY'));
$http = new GuzzleHttp\Client(['timeout' => 120]);
$rendering = new RenderingApi($http, $configuration);
$jobs = new JobsApi($http, $configuration);
$batches = new BatchesApi($http, $configuration);

$request = (new RenderRequest())->setHtml('<p>PHP</p>');
$save('render.pdf', $rendering->renderPdf($request));

$request->setExecutionMode(RenderRequest::EXECUTION_MODE_ASYNC);
$jobId = $rendering->renderPdf($request)->getJobId();
do {
    usleep(100_000);
    $status = $jobs->getJob($jobId)->getStatus();
} while (in_array($status, ['queued', 'processing']));
echo "job $status\n";

try {
    // The setter would refuse it before the service does.
    $rendering->renderPdf($request->setOptions(new RenderOptions(['scale' => 9])));
} catch (ApiException $failure) {
    // The generator has no type for a text or a list of texts, as the message is.
    $message = json_decode($failure->getResponseBody())->message[0];
    echo "error {$failure->getCode()} {$failure->getResponseObject()->getCode()} $message\n";
}

$items = array_map(fn (string $id) => (new BatchItemInput())->setId($id)->setHtml("<p>$id</p>"), ['a', 'b']);
$batchId = $batches->createBatch((new BatchRequest())->setItems($items))->getJobId();
do {
    usleep(100_000);
    $status = $batches->getBatch($batchId)->getStatus();
} while (in_array($status, ['queued', 'processing']));
$save('batch.zip', $batches->downloadBatchZip($batchId));
echo "batch $status\n";
