/** The audit log: append-only, newest first. */
import { Fragment } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { RangeFilters } from '../parts/filters.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { Drawer } from '../parts/modal.tsx';
import { Empty } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Facts, Id, Moment, PageHead } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { alertWords as own } from '../words/alerts.ts';
import { actionNames } from '../words/audit-actions.ts';
import { actionName, subjectWords } from '../words/audit.ts';
import { words } from '../words/words.ts';

type Row = graph.AuditQuery['auditLog']['nodes'][number];

/** A person's role, or the name of a key or service. */
const roleOf = (role: string): string => {
  const names: Readonly<Record<string, string>> = { ...own.actors, ...words.person.roles };
  return names[role] ?? role;
};

const Subject = ({ entry }: { readonly entry: Row }) => {
  const { subjectKind, subjectId, subjectName } = entry;
  const kind = (subjectWords.kinds as Readonly<Record<string, string>>)[subjectKind] ?? subjectKind;
  const isReadable = !/^[0-9a-f-]{36}$/i.test(subjectId);
  const name = subjectName ?? (isReadable ? subjectId : null);
  return (
    <span className="two">
      <span className="cut">{name ?? kind}</span>
      {name !== null && <span className="quiet">{kind}</span>}
    </span>
  );
};

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.at, cell: ({ at }) => <Moment at={at} /> },
  {
    name: words.columns.actor,
    cell: ({ actor, actorName, role }) => (
      <span className="two">
        <span className="cut">{actorName ?? actor}</span>
        <span className="quiet">{roleOf(role)}</span>
      </span>
    ),
  },
  { name: words.columns.action, cell: ({ action }) => actionName(action) },
  {
    name: words.columns.subject,
    isWide: true,
    cell: (entry) => <Subject entry={entry} />,
  },
];

type State = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Every field of both states; those that differ come first. */
const changedFields = (before: State, after: State) =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, before: textOf(before[field]), after: textOf(after[field]) }))
    .toSorted(
      (one, other) => Number(one.before === one.after) - Number(other.before === other.after),
    );

const Changes = ({
  before,
  after,
}: {
  readonly before: State | null;
  readonly after: State | null;
}) => {
  const side = (name: 'before' | 'after'): Column<ReturnType<typeof changedFields>[number]> => ({
    name: words.auditLog[name],
    isNamed: true,
    cell: (row) => {
      if (row[name] === '') return <span className="quiet">{subjectWords.nothing}</span>;
      const isChanged = name === 'after' && before !== null && row.before !== row.after;
      return <span className="wrap">{isChanged ? <mark>{row.after}</mark> : row[name]}</span>;
    },
  });
  const columns: readonly Column<ReturnType<typeof changedFields>[number]>[] = [
    { name: subjectWords.field, cell: ({ field }) => <code>{field}</code> },
    ...(before ? [side('before')] : []),
    ...(after ? [side('after')] : []),
  ];
  const rows = changedFields(before ?? {}, after ?? {});
  if (rows.length === 0) return null;
  return (
    <Table
      label={`${words.auditLog.before} → ${words.auditLog.after}`}
      columns={columns}
      rows={rows}
      keyOf={({ field }) => field}
    />
  );
};

const Entry = ({ entry }: { readonly entry: Row }) => (
  <Drawer title={actionName(entry.action)}>
    <div className="payment">
      <Facts
        facts={[
          [words.columns.at, <Moment key="at" at={entry.at} />],
          [words.columns.actor, `${entry.actorName ?? entry.actor} (${roleOf(entry.role)})`],
          [words.columns.action, <code key="action">{entry.action}</code>],
          [
            words.columns.subject,
            <Fragment key="subject">
              <Subject entry={entry} /> <Id id={entry.subjectId} whole />
            </Fragment>,
          ],
          [words.auditLog.request, <Id key="request" id={entry.requestId} whole />],
        ]}
      />
      <Changes before={entry.before} after={entry.after} />
    </div>
  </Drawer>
);

/**
 * The filters by person, action and subject; a typed one applies on Enter or when the field loses
 * focus.
 */
const AuditFilters = ({ hasSubject }: { readonly hasSubject: boolean }) => {
  const { search, set } = useAddress();
  // An action that is not in the list appears by its code.
  const actions = [...new Set([...Object.keys(actionNames), search.action ?? ''])]
    .filter((action) => action !== '')
    .toSorted((a, b) => actionName(a).localeCompare(actionName(b)));
  const fields = ['actor', ...(hasSubject ? (['subject'] as const) : [])] as const;
  const apply = (field: (typeof fields)[number] | 'action', text: string): void => {
    if (text === (search[field] ?? '')) return;
    set({ [field]: text === '' ? undefined : text });
  };
  return (
    <div className="chips">
      <select
        className="chip-field"
        aria-label={words.columns.action}
        value={search.action ?? ''}
        onChange={({ target }) => apply('action', target.value)}
      >
        <option value="">{`${words.columns.action}: ${words.filters.all}`}</option>
        {actions.map((action) => (
          <option key={action} value={action}>
            {actionName(action)}
          </option>
        ))}
      </select>
      {fields.map((field) => (
        <input
          key={`${field} ${search[field] ?? ''}`}
          className="chip-field"
          aria-label={own[field]}
          placeholder={own[field]}
          defaultValue={search[field]}
          maxLength={200}
          onBlur={({ target }) => apply(field, target.value.trim())}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Enter') apply(field, currentTarget.value.trim());
          }}
        />
      ))}
    </div>
  );
};

export const AuditPage = () => {
  const { search, merchantId } = useAddress();
  const { actor = null, action = null, since = null, until = null } = search;
  // Over all merchants there is no lookup by id: the log's index is by merchant.
  const owner = useWhose();
  const subjectId = owner === null ? null : (search.subject ?? null);
  const narrowing = { merchantId, actor, action, subjectId, since, until };
  const asked = usePage(graph.Audit, narrowing, { lists: ['audit_log'] });
  const open = asked.rows?.find(({ id }) => id === search.open);
  return (
    <>
      <PageHead name={words.sections.audit} />
      <AuditFilters hasSubject={owner !== null} />
      <RangeFilters hasAmounts={false} />
      <Listing
        name="audit"
        label={words.sections.audit}
        asked={asked}
        columns={columnsOf}
        opens
        empty={<Empty title={words.auditLog.empty} text={words.auditLog.emptyText} />}
      />
      {open && <Entry entry={open} />}
    </>
  );
};
