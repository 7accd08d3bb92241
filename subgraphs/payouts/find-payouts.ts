/** Reading payouts: by id, by reference, as a registry (contract GET /v1/public/payouts). */
import { loadByKey } from '../kernel/database/load-by-key.ts';
import { registry } from '../kernel/database/registry.ts';
import { columns, propertyNames } from '../kernel/database/statement.ts';
import { PayoutEntity, type Payout } from './entities.ts';
import { payoutMethods, payoutStatuses } from './rules/payout.ts';

/** Every column of a payout, by its property's name. */
export const payoutNames = propertyNames(PayoutEntity);
const payoutColumns = columns(payoutNames);

export const loadPayouts = loadByKey<Payout>('payout', payoutColumns);

/** The payouts registry, filtered by status and method. */
export const listPayouts = registry<Payout>(
  { name: 'payout', filters: { status: payoutStatuses, method: payoutMethods } },
  payoutColumns,
);
