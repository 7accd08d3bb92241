/**
 * The tables of the four subgraphs, without their code: a process that needs only the database does
 * not load GraphQL.
 */
import { platformEntities } from './platform/database/entities.ts';
import { alertsEntities } from './platform/alerts/entities.ts';
import { clockEntities } from './platform/clock/test-clocks.ts';
import { ledgerEntities } from './ledger/entities.ts';
import { banksEntities } from './acquirers/entities.ts';
import { policiesEntities } from './platform/policies/policies.ts';
import { paymentsEntities } from './payments/entities.ts';
import { payoutsEntities } from './payouts/entities.ts';
import { merchantsEntities } from './merchants/entities.ts';
import { recurringEntities } from './recurring/entities.ts';
import { reconciliationEntities } from './merchants/reconciliation/entities.ts';

/** Every table that the ORM knows. */
export const entities = [
  ...platformEntities,
  ...alertsEntities,
  ...clockEntities,
  ...ledgerEntities,
  ...banksEntities,
  ...policiesEntities,
  ...paymentsEntities,
  ...payoutsEntities,
  ...recurringEntities,
  ...merchantsEntities,
  ...reconciliationEntities,
];
