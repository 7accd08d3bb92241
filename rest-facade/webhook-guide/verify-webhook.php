<?php
// Verifies webhooks of the payment service. Copy this file into your project: it needs PHP 8.0 or newer and no packages.

/**
 * Whether a delivery is genuine and at most $toleranceSeconds old.
 * $rawBody: file_get_contents('php://input'), before it is parsed. $header: X-PSP-Signature. $secret: the endpoint's whole secret, whs_...
 */
function verify_webhook(string $rawBody, string $header, string $secret, int $toleranceSeconds = 300, ?float $now = null): bool
{
    $timestamp = null;
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_map('trim', explode('=', $part, 2) + ['', '']);
        if ($name === 't') {
            $timestamp ??= $value;
        } elseif ($name === 'v2') {
            $signatures[] = $value;
        }
    }
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp ?? '') || abs(($now ?? microtime(true)) - (int) $timestamp) > $toleranceSeconds) {
        return false;
    }
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    // While a rotated secret and the new one overlap there are two of them, and either will do.
    return count(array_filter($signatures, fn (string $signature): bool => hash_equals($expected, $signature))) > 0;
}

/**
 * Whether a delivery of an endpoint marked legacy is genuine. It has no timestamp: remember the ids that you have handled. Use it for such endpoints
 * alone, because a signature of this format can be made out of any v1 that was ever seen.
 */
function verify_legacy_webhook(string $rawBody, string $header, string $secret): bool
{
    return hash_equals('sha256=' . hash_hmac('sha256', $rawBody, $secret), $header);
}
