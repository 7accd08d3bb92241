<?php
// Reads cases as JSON from stdin and prints what the documented PHP function says of each; the argument is its folder.
require "$argv[1]/verify-webhook.php";

$said = fn (array $case): bool => $case['legacy']
    ? verify_legacy_webhook(base64_decode($case['body']), $case['header'], $case['secret'])
    : verify_webhook(base64_decode($case['body']), $case['header'], $case['secret'], now: $case['now_s']);
echo json_encode(array_map($said, json_decode(stream_get_contents(STDIN), true)));
