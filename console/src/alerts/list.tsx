/** Alerts, which stay open until a person resolves them. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  AlertAssignees,
  Alerts,
  AssignAlert,
  type AlertsQuery,
} from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { shortMoment } from '../format.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ExportButton } from '../parts/export-button.tsx';
import { Pager, usePageArguments } from '../parts/pager.tsx';
import { Behind, useRefusalText } from '../parts/refusal.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { useMerchantNames } from '../parts/whose.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { useAlertWords } from '../words/alerts.ts';
import { useWords } from '../words/words.ts';
import { SubjectLink } from './subject-link.tsx';
import { ResolveDialog } from './resolve.tsx';
import { isRefusedReturn, RetryRefundAct } from './retry-refund.tsx';

type Alert = AlertsQuery['alerts']['nodes'][number];

const Urgency = ({ severity }: Pick<Alert, 'severity'>) => {
  const words = useAlertWords();
  return (
    <Status tone={severity === 'critical' ? 'bad' : 'waiting'}>{words.severities[severity]}</Status>
  );
};

/** An alert's assignee, and the dialog that assigns it. */
const Assignee = ({ alert, again }: { readonly alert: Alert; readonly again: () => void }) => {
  const words = useAlertWords();
  const { granted } = usePermission('alertAssign');
  const [message, setMessage] = useState('');
  const { data } = useAsk(AlertAssignees, {}, !granted);
  const refusalText = useRefusalText();
  const [, assign] = useMutation(AssignAlert);
  const { merchantId, id, assignee } = alert;
  if (!granted || alert.resolvedAt !== null)
    return assignee === null ? null : <span className="quiet">{assignee}</span>;
  const people = new Set([
    ...(data?.alertAssignees ?? []),
    ...(assignee === null ? [] : [assignee]),
  ]);
  const give = async (to: string): Promise<void> => {
    const answer = await assign({ merchantId, id, assignee: to === '' ? null : to });
    const result = answer.data?.alertAssign;
    const isGiven = result && result.__typename !== 'Refused';
    setMessage(isGiven ? '' : `${words.notAssigned}: ${refusalText(result, answer.error)}`);
    again();
  };
  return (
    <label className="quiet">
      {words.assignee}{' '}
      <select value={assignee ?? ''} onChange={({ target }) => void give(target.value)}>
        <option value="">{words.nobody}</option>
        {[...people].map((person) => (
          <option key={person} value={person}>
            {person}
          </option>
        ))}
      </select>{' '}
      <span role="status">{message}</span>
    </label>
  );
};

/** The address's value for unassigned alerts; no name begins so. */
const nobody = '-';

const severities = ['critical', 'warning'] as const;

/** The filters: urgency, own alerts. */
const AlertFilters = () => {
  const words = useAlertWords();
  const { subject } = useViewer();
  const { search, set } = useAddress();
  const top = { after: undefined, before: undefined };
  const [severity] = listOf(search.severity, severities);
  const chips = [
    ...severities.map((one) => ({
      name: words.severities[one],
      isOn: severity === one,
      change: { severity: severity === one ? undefined : one },
    })),
    {
      name: words.mine,
      isOn: search.assignee === subject,
      change: { assignee: search.assignee === subject ? undefined : subject },
    },
    {
      name: words.unassigned,
      isOn: search.assignee === nobody,
      change: { assignee: search.assignee === nobody ? undefined : nobody },
    },
  ];
  return (
    <div className="chips" role="group" aria-label={words.severity}>
      {chips.map(({ name, isOn, change }) => (
        <button
          key={name}
          type="button"
          className="chip"
          aria-pressed={isOn}
          onClick={() => set({ ...top, ...change })}
        >
          {name}
        </button>
      ))}
    </div>
  );
};

const AlertCard = ({
  alert,
  whose,
  again,
}: {
  readonly alert: Alert;
  /** The merchant's name, where alerts of several are listed. */
  readonly whose: string;
  readonly again: () => void;
}) => {
  const words = useWords();
  const own = useAlertWords();
  const permission = usePermission('alertResolve');
  const [isOpen, setOpen] = useState(false);
  const { resolvedAt, resolvedBy, note } = alert;
  return (
    <li className="card" data-open={resolvedAt === null}>
      <div className="line">
        <strong>{words.alert.kinds[alert.kind]}</strong>
        {whose !== '' && <span className="quiet">{whose}</span>}
        <Urgency severity={alert.severity} />
        <Moment at={alert.raisedAt} />
      </div>
      <p>{isRefusedReturn(alert) ? own.returnRefused : own.sentences[alert.kind]}</p>
      <Behind name={own.details}>{alert.detail}</Behind>
      <div className="line">
        <Id id={alert.subjectId} />
        <SubjectLink alert={alert} />
        <Assignee alert={alert} again={again} />
        {resolvedAt === null && isRefusedReturn(alert) && (
          <RetryRefundAct alert={alert} again={again} />
        )}
        {resolvedAt === null ? (
          <ActButton permission={permission} onPress={() => setOpen(true)}>
            {words.alert.resolve}
          </ActButton>
        ) : (
          <span className="quiet">
            {words.alert.resolvedBy(
              resolvedBy ?? '',
              shortMoment(resolvedAt, words.locale, Date.now()),
            )}
            : {note}
          </span>
        )}
      </div>
      {isOpen && (
        <ResolveDialog
          alert={alert}
          close={() => {
            setOpen(false);
            again();
          }}
        />
      )}
    </li>
  );
};

const List = () => {
  const words = useWords();
  const { search, merchantId, mode, set } = useAddress();
  const isResolved = search.status === 'resolved';
  const [severity = null] = listOf(search.severity, severities);
  const narrowing = {
    merchantId,
    resolved: isResolved,
    severity,
    mode,
    assignee: search.assignee === nobody ? null : (search.assignee ?? null),
    unassigned: search.assignee === nobody ? true : null,
  };
  const { data, error, again } = useAsk(Alerts, { ...narrowing, ...usePageArguments() });
  useFollow(again, { lists: ['alerts'] });
  const rows = data?.alerts.nodes ?? [];
  const nameOf = useMerchantNames(merchantId === null ? rows.map((row) => row.merchantId) : []);
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.alerts}</h1>
        <ExportButton of={Alerts} variables={narrowing} />
      </header>
      <div className="chips" role="group" aria-label={words.filters.status}>
        {([undefined, 'resolved'] as const).map((status) => (
          <button
            key={status ?? 'open'}
            type="button"
            className="chip"
            aria-pressed={isResolved === (status === 'resolved')}
            onClick={() => set({ status, after: undefined, before: undefined })}
          >
            {status === 'resolved' ? words.alert.resolved : words.alert.open}
          </button>
        ))}
      </div>
      <AlertFilters />
      {error && !data && <Failure error={error} again={again} />}
      {!data && !error && <Skeleton />}
      {data && rows.length === 0 && (
        <Empty title={words.alert.empty}>
          <p>{words.alert.emptyText}</p>
        </Empty>
      )}
      <ul className="cards alerts">
        {rows.map((alert) => (
          <AlertCard
            key={alert.id}
            alert={alert}
            whose={merchantId === null ? nameOf(alert.merchantId) : ''}
            again={again}
          />
        ))}
      </ul>
      {data && <Pager info={data.alerts.pageInfo} />}
    </>
  );
};

/** The screen. */
export const AlertsPage = () => {
  const { sections, acts } = useWords();
  const { granted } = usePermission('alerts');
  if (granted) return <List />;
  return (
    <>
      <header className="page-head">
        <h1>{sections.alerts}</h1>
      </header>
      <Empty title={acts.platform} />
    </>
  );
};
