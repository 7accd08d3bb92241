/** The order to give a hold up, as the payment's row has it. */
import { newRowId } from '../../kernel/database/new-id.ts';
import type { HoldOrderKind } from './rules.ts';

/** The patch that orders a release. Its key begins with the time, which `money_unsettled` reads. */
export const releaseOrder = (
  holdOrder: Exclude<HoldOrderKind, 'capture'>,
  askAt: Temporal.Instant,
) => ({ holdOrder, holdKey: newRowId(), askAt });
