/** A command that creates a payment, as `npm start` prints it. */
export const firstPayment = (key: string): string =>
  [
    `curl -s -X POST ${location.origin}/v1/public/payments \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"amount":10000,"order_id":"order-1","description":"Tea and cakes","return_url":"https://example.com/thanks"}'`,
  ].join('\n');
