/** One alert, in the list and on home: what it found, its subject, its resolution. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import * as graph from '../../../schema/generated/console.ts';
import { policyReason_max_chars } from '../../../schema/limits.ts';
import { kept, readSearch, useAddress } from '../address.ts';
import { money } from '../amounts.ts';
import { wholeNumber } from '../format.ts';
import { ActForm, type Closable } from '../parts/act-form.tsx';
import { useRefusalText, useSend } from '../parts/outcome.tsx';
import { Facts, type Fact, Id, Moment, ObjectLink } from '../parts/texts.tsx';
import { useAlertWords, useAlertFactWords } from '../words/alerts.ts';
import { useFailureName } from '../words/failures.tsx';
import { useWords } from '../words/words.ts';

type Alert = graph.AlertsQuery['alerts']['nodes'][number];
type Found = Pick<Alert, 'fields' | 'subjectId'>;

const amounts: ReadonlySet<graph.AlertFieldName> = new Set(['amount', 'found', 'expected']);
const numbers: ReadonlySet<graph.AlertFieldName> = new Set(['count', 'failed', 'minutes', 'hours']);
const ids: ReadonlySet<graph.AlertFieldName> = new Set(['refund', 'receipt']);

const useFacts = (): ((alert: Found) => readonly Fact[]) => {
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
    const shown = (name: graph.AlertFieldName, value: string): Fact[1] => {
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

export const AlertFacts = ({ alert }: { readonly alert: Found }) => {
  const { subject } = useAlertFactWords();
  return <Facts facts={[...useFacts()(alert), [subject, <Id id={alert.subjectId} whole />]]} />;
};

export const AlertBehind = ({ alert }: { readonly alert: Found }) => {
  const { details } = useAlertFactWords();
  return (
    <details className="behind">
      <summary>{details}</summary>
      <AlertFacts alert={alert} />
    </details>
  );
};

/** Gives an alert to a person, or to nobody; says why it was not given, and nothing when it was. */
export const useAssign = ({ merchantId, id }: Pick<Alert, 'merchantId' | 'id'>) => {
  const refusalText = useRefusalText();
  const [, assign] = useMutation(graph.AssignAlert);
  return async (assignee: string | null): Promise<string> => {
    const { data, error } = await assign({ merchantId, id, assignee });
    const result = data?.alertAssign;
    return result && result.__typename !== 'Refused' ? '' : refusalText(result, error);
  };
};

/** The link to the payment that an alert is about, or to another page that shows its subject. */
export const SubjectLink = ({
  alert: { payment, place },
}: {
  readonly alert: Pick<Alert, 'payment' | 'place'>;
}) => {
  const words = useAlertWords();
  const { search } = useAddress();
  if (payment) {
    const { id, merchantId, publicId } = payment;
    return (
      <ObjectLink merchantId={merchantId} id={id}>
        {words.toPayment(publicId)}
      </ObjectLink>
    );
  }
  const { pathname, searchParams } = new URL(place, location.origin);
  if (pathname === '/alerts') return null;
  return (
    <Link
      to={pathname}
      search={{ ...kept(search), ...readSearch(Object.fromEntries(searchParams)) }}
    >
      {words.toSubject}
    </Link>
  );
};

export const ResolveDialog = ({
  alert,
  close,
}: Closable & { readonly alert: Pick<Alert, 'id' | 'merchantId' | 'kind'> }) => {
  const words = useWords();
  const { sentences } = useAlertWords();
  const [note, setNote] = useState('');
  const resolve = useSend(graph.ResolveAlert);
  const { merchantId, id } = alert;
  return (
    <ActForm
      title={words.alert.resolve}
      consequence={sentences[alert.kind]}
      isReady={note.trim() !== ''}
      close={close}
      act={() => resolve({ merchantId, id, note: note.trim() }, words.alert.done)}
    >
      <label className="field">
        {words.alert.note}
        <textarea
          rows={3}
          maxLength={policyReason_max_chars}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </label>
    </ActForm>
  );
};
