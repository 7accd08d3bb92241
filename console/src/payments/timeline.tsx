/** Everything that happened to a payment, in order of time; each line opens to its record. */
import { listOf, useAddress } from '../address.ts';
import { useActionName } from '../audit/action-name.ts';
import { Raw } from '../parts/raw.tsx';
import { Moment } from '../parts/texts.tsx';
import { useFailureName } from '../words/failures.tsx';
import { useTimelineWords } from '../words/timeline.ts';
import { useWebhookWords } from '../words/webhooks.ts';
import { useWords } from '../words/words.ts';
import { lineKinds, linesOf, type Line, type LineKind } from './timeline-lines.ts';
import type { PaymentDetails } from './payment-details.ts';

/** One press for each kind that has happened; the choice is in the address. */
const KindChips = ({ lines }: { readonly lines: readonly Line[] }) => {
  const words = useTimelineWords();
  const { search, set } = useAddress();
  const chosen = listOf(search.kinds, lineKinds);
  const known = lineKinds.filter((kind) => lines.some((line) => line.kind === kind));
  const press = (kind: LineKind): void => {
    const next = chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind];
    set({ kinds: next.join(',') || undefined });
  };
  return (
    <div className="chips" role="group" aria-label={words.filter}>
      <button
        type="button"
        className="chip"
        aria-pressed={chosen.length === 0}
        onClick={() => set({ kinds: undefined })}
      >
        {words.all}
      </button>
      {known.map((kind) => (
        <button
          key={kind}
          type="button"
          className="chip"
          aria-pressed={chosen.includes(kind)}
          onClick={() => press(kind)}
        >
          {words.kinds[kind]}
          <span className="count">{lines.filter((line) => line.kind === kind).length}</span>
        </button>
      ))}
    </div>
  );
};

const LineText = ({ line: { text, aside, at } }: { readonly line: Line }) => (
  <>
    <span className="break">
      {text} {aside !== '' && <span className="quiet">{aside}</span>}
    </span>
    <Moment at={at} />
  </>
);

const LineOf = ({ line }: { readonly line: Line }) => {
  const { kind, tone, records } = line;
  return (
    <li data-tone={tone} data-kind={kind}>
      {records.length === 0 ? (
        <div className="line">
          <LineText line={line} />
        </div>
      ) : (
        <Raw head={<LineText line={line} />} record={records.length === 1 ? records[0] : records} />
      )}
    </li>
  );
};

/** The list. */
export const Timeline = ({ payment }: { readonly payment: PaymentDetails }) => {
  const words = useWords();
  const line = useTimelineWords();
  const { search } = useAddress();
  const actionName = useActionName();
  const lines = linesOf(payment, {
    words,
    line,
    actionName,
    failureOf: useFailureName(),
    faults: useWebhookWords().faults,
  });
  const chosen = listOf(search.kinds, lineKinds);
  const shown = chosen.length === 0 ? lines : lines.filter(({ kind }) => chosen.includes(kind));
  return (
    <section>
      <h2>{line.title}</h2>
      <KindChips lines={lines} />
      {shown.length === 0 && <p className="quiet">{line.nothing}</p>}
      <ol className="timeline">
        {shown.map((one, index) => (
          <LineOf key={`${one.at} ${one.kind} ${index}`} line={one} />
        ))}
      </ol>
    </section>
  );
};
