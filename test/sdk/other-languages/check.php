<?php
// Does with the copyable file what a shop does; prints what it saw as JSON. The argument is the file's folder.
require "$argv[1]/payment-service.php";

$service = new PaymentService(getenv('PSP_API_KEY'), getenv('PSP_URL'));
$order = ['amount' => 12300, 'order_id' => 'заказ 1'];
$created = $service->createPayment($order, 'order-php');
$again = $service->createPayment($order, 'order-php');
$read = $service->getPayment($created['payment']['id']);
$refused = [];
foreach ([fn () => $service->createPayment(['amount' => 0, 'ttl_minutes' => 0]), fn () => $service->getPayment('../balance')] as $call) {
    try {
        $call();
    } catch (ApiError $error) {
        $refused[] = [$error->status, $error->errorCode, array_column($error->fields, 'path')];
    }
}
echo json_encode(compact('created', 'again', 'read', 'refused'));
