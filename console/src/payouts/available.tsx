/** What can be paid out now, and why it is less than the balance. */
import { Balance } from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useDraftWords } from '../words/drafts.ts';
import { useLedgerWords } from '../words/ledger.ts';
import { useWords } from '../words/words.ts';

/** The available amount beside the one that is to be paid; null: none yet. */
export const Available = ({
  merchantId,
  mode,
  amount,
}: {
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly amount: number | null;
}) => {
  const { locale } = useWords();
  const own = useDraftWords();
  const ledger = useLedgerWords();
  const { data } = useAsk(Balance, { merchantId, mode });
  if (!data) return null;
  const { balance, available, currency } = data.balance;
  const shown = (sum: number): string => money(sum, currency, locale);
  const missing = (amount ?? 0) - available;
  return (
    <div className="available">
      <p>
        {own.available} <strong className="money">{shown(available)}</strong>
      </p>
      <p className="quiet">
        {balance === available ? own.allAvailable : ledger.reserved(shown(balance - available))}
      </p>
      {missing > 0 && <p className="bad">{own.missing(shown(missing))}</p>}
    </div>
  );
};
