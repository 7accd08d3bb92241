/** Whose objects a screen shows: the selected merchant's, or each row's own; and the selection. */
import type { Held } from '../parts/fields.tsx';
import { useMemo, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useViewer } from '../viewer.tsx';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import type { Column } from './columns.tsx';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { PopoverButton } from './modal.tsx';
import { Empty } from './states.tsx';
import { useAsk } from './use-ask.ts';

/** The selected merchant: a cabinet user's own, or the one chosen in the top bar. */
export const useWhose = (): string | null => {
  const { merchantId } = useAddress();
  return useViewer().merchantId ?? merchantId;
};

const names_max = 100;

/** The names of merchants; null is the platform. An unknown name is the id until it is known. */
export const useMerchantNames = (
  ids: readonly (string | null)[],
): ((id: string | null) => string) => {
  const wanted = [...new Set(ids)].filter((id) => id !== null).toSorted();
  const { data } = useAsk(
    graph.MerchantNames,
    { ids: wanted.slice(0, names_max), first: names_max },
    { pause: wanted.length === 0 },
  );
  const nodes = data?.merchants.nodes;
  return useMemo(() => {
    const names = new Map(nodes?.map(({ id, name }) => [id, name]));
    return (id) => (id === null ? words.auditLog.platform : (names.get(id) ?? id));
  }, [nodes, words.language]);
};

const useChooseMerchant = () => {
  const { set } = useAddress();
  return (id: string | null): void => set({ merchant: id ?? undefined, open: undefined });
};

/** A merchant's name, which narrows the list to its objects. */
const Narrower = ({ merchantId, name }: { readonly merchantId: string; readonly name: string }) => {
  const choose = useChooseMerchant();
  return (
    <button
      type="button"
      className="button-link cut"
      title={sharedWords.onlyOf(name)}
      onClick={() => choose(merchantId)}
    >
      {name}
    </button>
  );
};

const ownerOf = (row: object): string | null | undefined =>
  'merchantId' in row && (typeof row.merchantId === 'string' || row.merchantId === null)
    ? row.merchantId
    : undefined;

/** The merchant's column comes after what the row is. */
const place = 2;

/** The columns with the merchant's one where rows of several merchants are listed. */
export const useWhoseColumn = <Row extends object>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly Column<Row>[] => {
  const owners = rows.map(ownerOf).filter((owner) => owner !== undefined);
  const isShown = useWhose() === null && owners.some((owner) => owner !== null);
  const nameOf = useMerchantNames(isShown ? owners : []);
  return useMemo(() => {
    if (!isShown) return columns;
    const column: Column<Row> = {
      name: words.merchant,
      cell: (row) => {
        const owner = ownerOf(row) ?? null;
        return owner === null ? nameOf(null) : <Narrower merchantId={owner} name={nameOf(owner)} />;
      },
    };
    return columns.toSpliced(place, 0, column);
  }, [columns, isShown, words.merchant, nameOf]);
};

export const LaterMerchantList = later(
  async () => (await import('./merchant-list.tsx')).MerchantList,
);

/** The button says what is chosen; `none` names the choice of no merchant. */
export const MerchantChoice = ({
  className,
  value,
  set,
  none,
}: Held<string | null> & {
  readonly className: string;
  readonly none: string;
}) => {
  const nameOf = useMerchantNames([value]);
  return (
    <PopoverButton
      className={className}
      title={sharedWords.choose}
      face={
        <>
          <span className="unseen">{words.merchant}: </span>
          <span className="cut">{value === null ? none : nameOf(value)}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <LaterMerchantList
          none={none}
          set={(merchantId) => {
            close();
            set(merchantId);
          }}
        />
      )}
    </PopoverButton>
  );
};

export const AddressMerchant = ({
  className,
  none,
}: {
  readonly className: string;
  readonly none: string;
}) => {
  const { merchantId } = useAddress();
  const choose = useChooseMerchant();
  return <MerchantChoice className={className} none={none} value={merchantId} set={choose} />;
};

export const OfMerchant = ({
  children,
}: {
  readonly children: (merchantId: string) => ReactNode;
}) => {
  const merchantId = useWhose();
  if (merchantId !== null) return children(merchantId);
  return (
    <Empty title={sharedWords.choose}>
      <p>{sharedWords.chooseText}</p>
      <AddressMerchant className="button" none={words.allMerchants} />
    </Empty>
  );
};
