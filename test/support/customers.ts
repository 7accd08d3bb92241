/** A key for the customers of receipts, for parts of the service that a test puts together. */
import { randomBytes } from 'node:crypto';
import type { CustomerVault } from '../../subgraphs/platform/database/kept-keys.ts';
import { seal, unseal } from '../../subgraphs/platform/access/keys.ts';

const key = randomBytes(32);

export const testCustomers: CustomerVault = {
  seal: (text) => seal(key, text),
  open: (sealed) => Promise.resolve(unseal(key, sealed)),
};
