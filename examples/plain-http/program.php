<?php
function call(string $method, string $path, ?string $body = null, array $headers = []): string {
    $http = ['method' => $method, 'header' => $headers, 'content' => $body ?? '', 'timeout' => 90, 'ignore_errors' => true];
    return file_get_contents(getenv('POSTLANE_URL') . $path, false, stream_context_create(['http' => $http]));
}

$mail = ['to' => 'ann@example.com', 'subject' => 'Your receipt', 'text' => 'Thank you.', 'category' => 'transactional', 'source' => 'api:receipts', 'idempotencyKey' => 'receipt/php'];
$sent = call('POST', '/internal/send-email', json_encode($mail), ['X-Proxy-Secret: ' . getenv('PROXY_SHARED_SECRET'), 'Content-Type: application/json']);
echo 'mail ', json_decode($sent)->status, "\n";

$owner = 'Authorization: Bearer ' . getenv('OWNER_TOKEN');
$file = json_decode(call('POST', '/api/v1/files?name=report.pdf', file_get_contents('report.pdf'), [$owner, 'Content-Type: application/pdf']))->file->id;
call('POST', "/api/v1/files/$file/convert", null, [$owner, "Idempotency-Key: convert/$file"]);
echo 'file ', json_decode(call('GET', "/api/v1/files/$file?wait=60", null, [$owner]))->file->status, "\n";
echo call('GET', "/api/v1/files/$file/result?format=text", null, [$owner]), "\n";

$refused = json_decode(call('GET', '/api/v1/files/00000000-0000-4000-8000-000000000000', null, [$owner]));
echo "refused $refused->status $refused->code ", json_encode($refused->retryable), "\n";
