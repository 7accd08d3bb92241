/** Finds a merchant by a part of its name or id. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { cabinetName_max_chars } from '../../../schema/limits.ts';
import { shortId } from '../format.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { FindList, useRested } from './find-list.tsx';
import { useAsk } from './use-ask.ts';

/** So many are shown; a longer text finds the others. */
const shown_rows = 20;

export const MerchantList = ({
  none,
  set,
}: {
  readonly none: string;
  /** Receives null for the choice of no merchant. */
  readonly set: (merchantId: string | null) => void;
}) => {
  const [text, setText] = useState('');
  const asked = useRested(text.trim()).slice(0, cabinetName_max_chars);
  const { data, error, fetching } = useAsk(graph.Merchants, { text: asked, first: shown_rows });
  const { nodes = [], pageInfo } = data?.merchants ?? {};
  const found = [
    ...(text.trim() === '' ? [{ key: '', name: none }] : []),
    ...nodes.map(({ id, name }) => ({ key: id, name })),
  ];
  const status = () => {
    if (error && !data) return words.failure.offline;
    if (found.length === 0 && !fetching) return sharedWords.noMerchant;
    return pageInfo?.hasNextPage === true ? sharedWords.moreMerchants : '';
  };
  return (
    <div className="merchant-list">
      <FindList
        label={sharedWords.findMerchant}
        listLabel={words.merchant}
        text={text}
        setText={setText}
        found={found}
        choose={({ key }) => set(key === '' ? null : key)}
        show={({ key, name }) => (
          <>
            <span className="cut">{name}</span>
            {key !== '' && <span className="quiet mono">{shortId(key)}</span>}
          </>
        )}
        status={status()}
      />
    </div>
  );
};
