import { openAddressOf } from '../../gateway/callers/caller-address.ts';
import type { BankCallbackParts } from '../../rest-facade/bank-callback.ts';

/** No bank notifies an edge that is opened with it. */
export const noBankCallbacks: BankCallbackParts = { addressOf: openAddressOf([]), routes: [] };
