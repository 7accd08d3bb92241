/** A payment whose money the simulated bank holds. */
import assert from 'node:assert/strict';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from './no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { granted } from './granted.ts';
import type { MigratedDatabase } from './migrated.ts';

const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };

/** Makes one of a key at a moment, and has it authorized 2 seconds later. */
export const holdPayment = async (
  { database }: MigratedDatabase,
  key: KeyPrincipal,
  amount: bigint,
  now: Temporal.Instant,
): Promise<Payment> => {
  const banks = openBanks(openSimulator(database), database.pool);
  const input = { amount, method: 'cards', capture: 'manual' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, now));
  const of = { merchantId: key.merchantId, paymentId: payment.id };
  const session = { key: of, card, pageUrl: 'https://pay.example/p', now };
  granted(await openSession(database, banks, noPolicies, session));
  const asked = granted(await askBank(database, banks, of, now.add({ seconds: 2 })));
  assert.equal(asked.status, 'authorized');
  return asked;
};
