/** Receipts as tests give them. */

/** One item, whose total is the amount. */
export const itemOf = (amount: number, fields: object = {}) => ({
  description: 'Tea',
  quantity: '1',
  price: amount,
  vat_code: 11,
  ...fields,
});

/** A receipt of one item. */
export const receiptOf = (amount: number, fields: object = {}) => ({
  customer: { email: 'ivanov@example.com', phone: '+79161234567' },
  items: [itemOf(amount)],
  ...fields,
});
