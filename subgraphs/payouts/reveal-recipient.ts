/** Shows a person the whole recipient of a payout or of its draft, with an audit entry. */
import { writeEntry } from '../platform/database/audit.ts';
import type { Database } from '../platform/database/orm.ts';
import { inTransaction } from '../platform/database/statement.ts';
import type { PersonActing } from '../platform/drafts/store-drafts.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import { payoutDrafts } from './drafts/store-draft.ts';
import { loadPayouts } from './find-payouts.ts';
import { maskedRecipient, recipientView } from './payout-view.ts';

/**
 * The recipient, once its entry is committed: no one sees it without a trace. A payout has the id of
 * its draft. A card's number is stored nowhere, so it cannot be revealed.
 */
export const revealRecipient = (
  { pool }: Pick<Database, 'pool'>,
  acting: PersonActing,
  key: { readonly merchantId: string; readonly id: string },
): Promise<ReturnType<typeof recipientView> | Refusal> =>
  inTransaction(pool, async (client) => {
    const [payout] = await loadPayouts(client, [key]);
    const [draft] = payout ? [null] : await payoutDrafts.load(client, [key]);
    const found = payout ?? draft;
    if (!found) return refuse('not_found', 'there is no such payout');
    const { merchantId, id } = found;
    const subject = { kind: payout ? 'payout' : 'payout_draft', id };
    const after = { recipient: maskedRecipient(found) };
    const action = { action: 'payout.recipient_reveal', merchantId, subject } as const;
    await writeEntry(client, acting, action, { before: null, after });
    return recipientView(found);
  });
