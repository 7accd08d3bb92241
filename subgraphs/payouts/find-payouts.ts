/** Reads payouts: by id, by reference, as a registry. */
import { type FoundPage, openList } from '../platform/database/lists.ts';
import { loadByKey } from '../platform/database/batch-calls.ts';
import { registry, type RegistryTable } from '../platform/database/registry.ts';
import { columns, propertyNames } from '../platform/database/statement.ts';
import { PayoutEntity, type Payout } from './entities.ts';
import { payoutMethods, payoutStatuses } from './rules/payout.ts';

/** Every column of a payout, by its property's name. */
export const payoutNames = propertyNames(PayoutEntity);
const payoutColumns = columns(payoutNames);

export const loadPayouts = loadByKey<Payout>('payout', payoutColumns);

export const payoutTable: RegistryTable = {
  name: 'payout',
  filters: { status: payoutStatuses, method: payoutMethods },
};

export type PayoutPage = FoundPage<Payout>;

/** The payouts registry, filtered by status and method. */
const listPayouts = registry<Payout>(payoutTable, payoutColumns);

/** Payouts as lists show them: the registry's, filtered, or those of all merchants. */
export const pageOfPayouts = openList<Payout>(
  { table: payoutTable, columns: payoutColumns },
  listPayouts,
);
