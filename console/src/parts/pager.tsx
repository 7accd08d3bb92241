/** Pages in both directions, kept in the address. */
import { useAddress } from '../address.ts';
import { useWords } from '../words/words.ts';

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
}

/** How many rows a page has. */
const page_rows = 50;

/** The arguments of the page that the address names. */
export const usePageArguments = () => {
  const { after, before } = useAddress().search;
  if (before !== undefined) return { last: page_rows, before };
  return after === undefined ? { first: page_rows } : { first: page_rows, after };
};

/** The buttons under a list. */
export const Pager = ({ info }: { readonly info: PageInfo }) => {
  const words = useWords();
  const { search, set } = useAddress();
  const isFirst = search.after === undefined && search.before === undefined;
  if (isFirst && !info.hasNextPage) return null;
  const hasNewer = !isFirst && (info.hasPreviousPage || search.after !== undefined);
  return (
    <nav className="pager" aria-label={words.pages}>
      <button
        type="button"
        className="button"
        disabled={isFirst}
        onClick={() => set({ after: undefined, before: undefined })}
      >
        {words.first}
      </button>
      <button
        type="button"
        className="button"
        disabled={!hasNewer || info.startCursor === null}
        onClick={() => set({ after: undefined, before: info.startCursor ?? undefined })}
      >
        {words.previous}
      </button>
      <button
        type="button"
        className="button"
        disabled={!info.hasNextPage}
        onClick={() => set({ before: undefined, after: info.endCursor ?? undefined })}
      >
        {words.next}
      </button>
    </nav>
  );
};

/** The buttons under a list that is read in one direction. */
export const ForwardPager = ({
  info: { hasNextPage, endCursor },
  names: [first, next],
}: {
  readonly info: Pick<PageInfo, 'hasNextPage' | 'endCursor'>;
  readonly names: readonly [first: string, next: string];
}) => {
  const words = useWords();
  const { search, set } = useAddress();
  const isFirst = search.after === undefined;
  if (!hasNextPage && isFirst) return null;
  return (
    <nav className="pager" aria-label={words.pages}>
      <button
        type="button"
        className="button"
        disabled={isFirst}
        onClick={() => set({ after: undefined })}
      >
        {first}
      </button>
      <button
        type="button"
        className="button"
        disabled={!hasNextPage}
        onClick={() => set({ after: endCursor ?? undefined })}
      >
        {next}
      </button>
    </nav>
  );
};
