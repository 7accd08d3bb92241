/** A merchant's balance at a moment. */
import { useState } from 'react';
import { BalanceAt } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Failure } from '../parts/states.tsx';
import { Money } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useReconciliationWords } from '../words/reconciliation.ts';
import { useWords } from '../words/words.ts';
import { fromZoneField } from '../zone.ts';

/** The field for the moment, and the balance. */
export const AtMoment = ({ merchantId }: { readonly merchantId: string }) => {
  const { ledger } = useWords();
  const own = useReconciliationWords();
  const { mode } = useAddress();
  const [text, setText] = useState('');
  const [at, setAt] = useState<string | null>(null);
  const { data, error, again } = useAsk(
    BalanceAt,
    { merchantId, mode, at: at ?? new Date(0).toISOString() },
    at === null,
  );
  const moment = fromZoneField(text);
  return (
    <section className="card">
      <h2>{own.atMoment}</h2>
      <form
        className="find"
        onSubmit={(event) => {
          event.preventDefault();
          if (moment) setAt(moment.toISOString());
        }}
      >
        <input
          type="datetime-local"
          aria-label={own.atMoment}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="button" disabled={!moment}>
          {own.show}
        </button>
      </form>
      <p className="quiet">{own.atMomentText}</p>
      {at !== null && error && !data && <Failure error={error} again={again} />}
      {at !== null && data && (
        <p role="status" className="amount-line">
          {ledger.balance}{' '}
          <Money amount={data.balanceAt.balance} currency={data.balanceAt.currency} />
        </p>
      )}
    </section>
  );
};
