/** The order to give a hold up, as the payment's row has it. */
import { randomUUID } from 'node:crypto';
import type { HoldOrderKind } from './rules.ts';

/** The patch that orders a release. */
export const releaseOrder = (
  holdOrder: Exclude<HoldOrderKind, 'capture'>,
  askAt: Temporal.Instant,
) => ({ holdOrder, holdKey: randomUUID(), askAt });
