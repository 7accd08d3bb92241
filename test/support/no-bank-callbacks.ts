import { openAddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import type { BankCallbackDeps } from '../../rest-facade/bank-callback.ts';

/** No bank notifies an edge that is opened with it. */
export const noBankCallbacks: BankCallbackDeps = { addressOf: openAddressOf([]), routes: [] };
