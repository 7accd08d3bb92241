/** Narrows a list to one customer by the merchant's reference. */
import { useState } from 'react';
import { useAddress } from '../address.ts';
import { Icon } from '../parts/icon.tsx';
import { useSubscriptionWords } from '../words/subscriptions.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';

/** The field; what is chosen is a chip that can be taken away. */
export const CustomerField = () => {
  const words = useWords();
  const { findCustomer, customer } = useSubscriptionWords();
  const { find } = useSharedWords();
  const { search, set } = useAddress();
  const [text, setText] = useState('');
  if (search.customer !== undefined)
    return (
      <button
        type="button"
        className="chip chosen"
        aria-label={words.filters.remove(`${customer} ${search.customer}`)}
        onClick={() => set({ customer: undefined, after: undefined, before: undefined })}
      >
        {customer} {search.customer}
        <Icon name="close" />
      </button>
    );
  return (
    <form
      className="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        set({ customer: text.trim() || undefined, after: undefined, before: undefined });
      }}
    >
      <input
        aria-label={findCustomer}
        placeholder={findCustomer}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button">
        {find}
      </button>
    </form>
  );
};
