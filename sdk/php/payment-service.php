<?php
// Creates and reads payments. Copy this file into your project: it needs PHP 8.1 or newer and no packages.

/** The service refused a call. Branch on $errorCode; $fields names each wrong field. */
final class ApiError extends RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly ?string $errorCode,
        string $message,
        public readonly array $fields,
    ) {
        parent::__construct("$errorCode: $message", $status);
    }
}

final class PaymentService
{
    public function __construct(
        private readonly string $apiKey,
        private readonly string $baseUrl,
        private readonly float $timeoutSeconds = 30,
    ) {
    }

    /**
     * Creates a payment; send the buyer to its payment_url. Keep $idempotencyKey with the order: a call that had no answer is repeated with
     * the same key and body, and gives the same payment.
     */
    public function createPayment(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/payments', $body, $idempotencyKey ?? bin2hex(random_bytes(16)));
    }

    /** Reads a payment by its id or its public number (P-100063). */
    public function getPayment(string $id): array
    {
        return $this->call('GET', '/payments/' . rawurlencode($id));
    }

    /** Makes any other call of the API: call('GET', '/balance'). */
    public function call(string $method, string $path, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->send($method, "/v1/public$path", $body, $idempotencyKey);
    }

    /** Runs an operation of the graph; with a person's token in place of the key, theirs, too. */
    public function graph(string $query, array $variables = []): array
    {
        return $this->send('POST', '/graphql', ['query' => $query, 'variables' => (object) $variables]);
    }

    private function send(string $method, string $path, ?array $body = null, ?string $idempotencyKey = null): array
    {
        $headers = ["Authorization: Bearer $this->apiKey"];
        $http = ['method' => $method, 'timeout' => $this->timeoutSeconds, 'ignore_errors' => true, 'follow_location' => 0];
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
            $http['content'] = json_encode((object) $body, JSON_THROW_ON_ERROR);
        }
        if ($idempotencyKey !== null) {
            $headers[] = "Idempotency-Key: $idempotencyKey";
        }
        $context = stream_context_create(['http' => ['header' => $headers] + $http]);
        $text = @file_get_contents(rtrim($this->baseUrl, '/') . $path, false, $context);
        if ($text === false) {
            throw new RuntimeException('the service did not answer: repeat the call with the same key');
        }
        $status = (int) explode(' ', $http_response_header[0])[1];
        $answer = json_decode($text, true);
        if ($status >= 300 || !is_array($answer)) {
            $error = is_array($answer) ? ($answer['error'] ?? []) : [];
            throw new ApiError($status, $error['code'] ?? null, $error['message'] ?? substr($text, 0, 200), $error['fields'] ?? []);
        }
        return $answer;
    }
}
