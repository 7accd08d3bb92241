/** One alert, in the list and on home: what it found, its subject, its resolution. */
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { policyReason_max_chars } from '../../../schema/limits.ts';
import { readSearch } from '../address.ts';
import { wholeNumber, money } from '../format.ts';
import { toldBy, send } from '../parts/outcome.tsx';
import { Facts, type Fact, Id, Moment, ObjectLink } from '../parts/texts.tsx';
import { alertWords as own, alertFactWords } from '../words/alerts.ts';
import { failureName } from '../words/failures.tsx';
import { words } from '../words/words.ts';

type Alert = graph.AlertsQuery['alerts']['nodes'][number];
type Found = Pick<Alert, 'fields' | 'subjectId'>;

const amounts: ReadonlySet<graph.AlertFieldName> = new Set(['amount', 'found', 'expected']);
const numbers: ReadonlySet<graph.AlertFieldName> = new Set(['count', 'failed', 'minutes', 'hours']);
const ids: ReadonlySet<graph.AlertFieldName> = new Set(['refund', 'receipt']);

const factsOf = ({ fields }: Found): readonly Fact[] => {
  const known: Readonly<Record<string, string>> = {
    ...words.payout.statuses,
    ...words.payment.statuses,
    ...alertFactWords.values,
  };
  const given = new Map(fields.map(({ name, value }) => [name, value]));
  const currency = given.get('currency');
  const shown = (name: graph.AlertFieldName, value: string): Fact[1] => {
    if (amounts.has(name)) return currency === undefined ? value : money(Number(value), currency);
    if (numbers.has(name)) return wholeNumber(Number(value));
    if (ids.has(name)) return <Id id={value} />;
    if (name === 'ends_at') return <Moment at={value} />;
    return name === 'reason' ? failureName(value) : (known[value] ?? value);
  };
  return fields
    .filter(({ name }) => name !== 'currency')
    .map(({ name, value }) => [alertFactWords.names[name], shown(name, value)] as const);
};

export const AlertFacts = ({ alert }: { readonly alert: Found }) => (
  <Facts facts={[...factsOf(alert), [alertFactWords.subject, <Id id={alert.subjectId} whole />]]} />
);

export const AlertBehind = ({ alert }: { readonly alert: Found }) => (
  <details className="behind">
    <summary>{words.payment.facts}</summary>
    <AlertFacts alert={alert} />
  </details>
);

/** Gives an alert to a person, or to nobody; says why it was not given, and nothing when it was. */
export const assignAlert = async (
  { merchantId, id }: Pick<Alert, 'merchantId' | 'id'>,
  assignee: string | null,
): Promise<string> => toldBy(await send(graph.AssignAlert, { merchantId, id, assignee }, ''));

/** The link to the payment that an alert is about, or to another page that shows its subject. */
export const SubjectLink = ({
  alert: { payment, place },
}: {
  readonly alert: Pick<Alert, 'payment' | 'place'>;
}) => {
  if (payment) {
    const { id, merchantId, publicId } = payment;
    return (
      <ObjectLink merchantId={merchantId} id={id}>
        {own.toPayment(publicId)}
      </ObjectLink>
    );
  }
  const { pathname, searchParams } = new URL(place, location.origin);
  if (pathname === '/alerts') return null;
  return (
    <Link to={pathname} search={readSearch(Object.fromEntries(searchParams))}>
      {own.toSubject}
    </Link>
  );
};

/** The act that resolves an alert, with a note. */
export const resolveAct = ({ merchantId, id, kind }: Pick<Alert, 'id' | 'merchantId' | 'kind'>) =>
  ({
    permission: 'alertResolve',
    title: words.alert.resolve,
    consequence: own.sentences[kind],
    fields: { note: { label: words.alert.note, rows: 3, maxLength: policyReason_max_chars } },
    act: ({ note }: { readonly note: string }) =>
      send(graph.ResolveAlert, { merchantId, id, note }, words.alert.done),
  }) as const;
