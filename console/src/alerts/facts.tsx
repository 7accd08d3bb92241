/** What an alert found, in the person's language. */
import type { AlertFieldName, AlertsQuery } from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { wholeNumber } from '../format.ts';
import { Facts, type Fact } from '../parts/facts.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useAlertFactWords } from '../words/alert-facts.ts';
import { useFailureName } from '../words/failures.tsx';
import { useWords } from '../words/words.ts';

type Alert = Pick<AlertsQuery['alerts']['nodes'][number], 'fields' | 'subjectId'>;

const amounts: ReadonlySet<AlertFieldName> = new Set(['amount', 'found', 'expected']);
const numbers: ReadonlySet<AlertFieldName> = new Set(['count', 'failed', 'minutes', 'hours']);
const ids: ReadonlySet<AlertFieldName> = new Set(['refund', 'receipt']);

const useFacts = (): ((alert: Alert) => readonly Fact[]) => {
  const { locale, payment, payout } = useWords();
  const { names, values } = useAlertFactWords();
  const failureName = useFailureName();
  const known: Readonly<Record<string, string>> = {
    ...payout.statuses,
    ...payment.statuses,
    ...values,
  };
  return ({ fields }) => {
    const given = new Map(fields.map(({ name, value }) => [name, value]));
    const currency = given.get('currency');
    const shown = (name: AlertFieldName, value: string): Fact[1] => {
      if (amounts.has(name))
        return currency === undefined ? value : money(Number(value), currency, locale);
      if (numbers.has(name)) return wholeNumber(Number(value), locale);
      if (ids.has(name)) return <Id id={value} />;
      if (name === 'ends_at') return <Moment at={value} />;
      return name === 'reason' ? failureName(value) : (known[value] ?? value);
    };
    return fields
      .filter(({ name }) => name !== 'currency')
      .map(({ name, value }) => [names[name], shown(name, value)] as const);
  };
};

/** The facts, and the id of the subject. */
export const AlertFacts = ({ alert }: { readonly alert: Alert }) => {
  const { subject } = useAlertFactWords();
  return <Facts facts={[...useFacts()(alert), [subject, <Id id={alert.subjectId} whole />]]} />;
};

/** The same, folded. */
export const AlertBehind = ({ alert }: { readonly alert: Alert }) => {
  const { details } = useAlertFactWords();
  return (
    <details className="behind">
      <summary>{details}</summary>
      <AlertFacts alert={alert} />
    </details>
  );
};
