/** Alerts, which stay open until a person resolves them or retries a refused refund. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { shortMoment } from '../format.ts';
import { ResolvedChips, ToggleChips } from '../parts/filters.tsx';
import { actButton } from '../parts/act-form.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Drawer } from '../parts/modal.tsx';
import { send } from '../parts/outcome.tsx';
import { Empty, OwnPage } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Status, Moment } from '../parts/texts.tsx';
import { reloadScreen } from '../graph/live.ts';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission, useViewer } from '../viewer.tsx';
import { alertWords as own } from '../words/alerts.ts';
import { keysOf, optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { AlertFacts, SubjectLink, assignAlert, resolveAct } from './alert.tsx';

type Alert = graph.AlertsQuery['alerts']['nodes'][number];

const Urgency = ({ severity }: Pick<Alert, 'severity'>) => (
  <Status tone={severity === 'critical' ? 'bad' : 'waiting'}>{own.severities[severity]}</Status>
);

const Assignee = ({ alert }: { readonly alert: Alert }) => {
  const { granted } = usePermission('alertAssign');
  const [message, setMessage] = useState('');
  const { data } = useAsk(graph.AlertAssignees, {}, { pause: !granted });
  const { assignee } = alert;
  if (!granted || alert.resolvedAt !== null)
    return assignee === null ? null : <span className="quiet">{assignee}</span>;
  const people = new Set([
    ...(data?.alertAssignees ?? []),
    ...(assignee === null ? [] : [assignee]),
  ]);
  const give = async (to: string): Promise<void> => {
    const refused = await assignAlert(alert, to || null);
    setMessage(refused && `${own.notAssigned}: ${refused}`);
    reloadScreen();
  };
  return (
    <span className="quiet">
      <select
        className="chip-field"
        aria-label={own.assignee}
        value={assignee ?? ''}
        onChange={({ target }) => void give(target.value)}
      >
        <option value="">{own.nobody}</option>
        {[...people].map((person) => (
          <option key={person} value={person}>
            {person}
          </option>
        ))}
      </select>{' '}
      <span role="status">{message}</span>
    </span>
  );
};

/** The address's value for unassigned alerts; no name begins so. */
const nobody = '-';

// Retries a refund that a bank refused: the automatic refund of a late success.

/** Whether an alert is about a refund that the bank refused: it names the refund, not the payment. */
const isRefusedReturn = ({ kind, payment, subjectId }: Alert): boolean =>
  kind === 'late_success' && payment !== null && payment.id !== subjectId;

const AlertActs = ({ alert }: { readonly alert: Alert }) => {
  const { resolvedAt, resolvedBy, note, payment, subjectId: id } = alert;
  const isOpen = resolvedAt === null;
  return (
    <div className="acts">
      {isOpen &&
        payment &&
        isRefusedReturn(alert) &&
        actButton({
          permission: 'refundRetry',
          title: own.retryRefund,
          consequence: own.retryRefundText,
          act: () =>
            send(graph.RetryRefund, { merchantId: payment.merchantId, id }, ({ refund }) =>
              own.refundRetried(words.refund.statuses[refund.status]),
            ),
        })}
      {isOpen ? (
        actButton(resolveAct(alert))
      ) : (
        <span className="quiet wrap">
          {resolvedBy ?? ''}, {shortMoment(resolvedAt, Date.now())}: {note}
        </span>
      )}
    </div>
  );
};

const Sentence = ({ alert }: { readonly alert: Alert }) => (
  <>{isRefusedReturn(alert) ? own.returnRefused : own.sentences[alert.kind]}</>
);

const columnsOf = (): readonly Column<Alert>[] => [
  {
    id: 'kind',
    name: own.found,
    cell: (alert) => (
      <span className="stack">
        <strong>{words.alert.kinds[alert.kind]}</strong>
        <span className="quiet wrap">
          <Sentence alert={alert} />
        </span>
      </span>
    ),
  },
  { id: 'severity', name: own.severity, cell: (alert) => <Urgency {...alert} /> },
  { id: 'subject', name: own.about, cell: (alert) => <SubjectLink alert={alert} /> },
  {
    id: 'mode',
    name: words.mode.label,
    isExtra: true,
    cell: ({ mode }) => (mode === null ? '' : words.mode[mode]),
  },
  { id: 'raised', name: words.columns.at, cell: ({ raisedAt }) => <Moment at={raisedAt} /> },
  {
    id: 'assignee',
    name: own.assignee,
    cell: (alert) => <Assignee alert={alert} />,
  },
  {
    id: 'acts',
    name: words.columns.action,
    cell: (alert) => <AlertActs alert={alert} />,
  },
];

const AlertDrawer = ({ alert }: { readonly alert: Alert }) => (
  <Drawer title={words.alert.kinds[alert.kind]}>
    <div className="payment">
      <p>
        <Sentence alert={alert} />
      </p>
      <p className="line">
        <Urgency severity={alert.severity} /> <Moment at={alert.raisedAt} />{' '}
        <SubjectLink alert={alert} />
      </p>
      <AlertFacts alert={alert} />
      <AlertActs alert={alert} />
    </div>
  </Drawer>
);

const useAlerts = () => {
  const { search, merchantId, mode } = useAddress();
  const [severity = null] = listOf(search.severity, keysOf(own.severities));
  const isUnassigned = search.assignee === nobody;
  const narrowing = {
    merchantId,
    resolved: search.status === 'resolved',
    severity,
    mode,
    assignee: isUnassigned ? null : (search.assignee ?? null),
    unassigned: isUnassigned ? true : null,
  };
  return usePage(graph.Alerts, narrowing, { lists: ['alerts'] });
};

const List = () => {
  const { search } = useAddress();
  const { subject } = useViewer();
  const asked = useAlerts();
  const open = asked.rows?.find(({ id }) => id === search.open);
  return (
    <>
      <ResolvedChips />
      <ToggleChips
        label={own.severity}
        options={[
          ...optionsOf(own.severities).map(([one, name]) => ['severity', one, name] as const),
          ['assignee', subject, own.mine],
          ['assignee', nobody, own.unassigned],
        ]}
      />
      <Listing
        name="alerts"
        label={words.sections.alerts}
        asked={asked}
        columns={columnsOf}
        opens
        empty={<Empty title={words.alert.empty} text={words.alert.emptyText} />}
      />
      {open && <AlertDrawer alert={open} />}
    </>
  );
};

export const AlertsPage = () => (
  <OwnPage permission="alerts" name={words.sections.alerts}>
    <List />
  </OwnPage>
);
