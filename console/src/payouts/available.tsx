/** What can be paid out now, what payouts would take of it, and why it is less than the balance. */
import { money } from '../format.ts';
import * as graph from '../../../schema/generated/console.ts';
import { Facts } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useRested } from '../parts/find-list.tsx';
import { draftWords as own } from '../words/drafts.ts';
import { ledgerWords } from '../words/reconciliation.ts';
import { words } from '../words/words.ts';

/** The available amount beside the payouts that are to be made; the service counts their fees. */
export const Available = ({
  merchantId,
  mode,
  items,
}: {
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly items: readonly graph.PayoutQuoteItem[];
}) => {
  const text = JSON.stringify(items);
  const rested = useRested(text);
  const asked = JSON.parse(rested) as graph.PayoutQuoteItem[];
  const { data, fetching } = useAsk(graph.PayoutQuote, { merchantId, mode, items: asked });
  const quote = data?.payoutQuote;
  const shown = (sum: number): string => money(sum, quote?.currency ?? 'RUB');
  const isCurrent = quote !== undefined && rested === text && !fetching;
  const counted = (sum: number): string => {
    if (items.length === 0 || sum < 0) return '—';
    return isCurrent ? shown(sum) : '…';
  };
  const { fee = 0, withheld = 0, balance = 0, available = 0, remaining = 0 } = quote ?? {};
  const reserved =
    balance === available ? own.allAvailable : ledgerWords.reserved(shown(balance - available));
  const isShort = items.length > 0 && isCurrent && remaining < 0;
  // Each line is there from the beginning: what is typed or pressed below must not move.
  return (
    <div className="available">
      <p>
        {own.available} <strong className="money">{quote ? shown(available) : '…'}</strong>
      </p>
      {isShort ? (
        <p className="bad">{own.missing(shown(-remaining))}</p>
      ) : (
        <p className="quiet">{quote ? reserved : '…'}</p>
      )}
      <Facts
        facts={[
          [words.payment.strip.fee, counted(fee)],
          [own.withheld, counted(withheld)],
          [own.remaining, counted(remaining)],
        ]}
      />
    </div>
  );
};
