/** Reading payouts: by id, by reference, as a registry (contract GET /v1/public/payouts). */
import { loadByKey } from '../kernel/database/load-by-key.ts';
import { registry } from '../kernel/database/registry.ts';
import { columns, propertyNames } from '../kernel/database/statement.ts';
import { PayoutEntity, type Payout } from './entities.ts';

const payoutColumns = columns(propertyNames(PayoutEntity));

export const loadPayouts = loadByKey<Payout>('payout', payoutColumns);

const filters = { status: ['pending', 'succeeded', 'failed'], method: ['payouts_sbp', 'payouts_card', 'payouts_account'] };

/** The payouts registry, filtered by status and method. */
export const listPayouts = registry<Payout>({ name: 'payout', filters }, payoutColumns);
