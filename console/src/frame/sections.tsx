/** The navigation on the left: its sections, their counts, the filters they had last. */
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { TypedDocumentNode } from 'urql';
import * as graph from '../../../schema/generated/console.ts';
import { type Search, useAddress, readSearch, without } from '../address.ts';
import { countText } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { useAsk } from '../parts/use-ask.ts';
import type { Followed } from '../parts/use-follow.ts';
import { changeSettings, useSettings } from '../settings.ts';
import { useWhose } from '../parts/whose.tsx';
import { usePermission } from '../viewer.tsx';
import { draftWords, refundDraftWords } from '../words/drafts.ts';
import { words } from '../words/words.ts';

/** The sections in their order, each with its second key after g; j and k move between rows. */
export const keyOf = {
  home: 'h',
  payments: 'p',
  refunds: 'r',
  receipts: 'c',
  paylinks: 'n',
  subscriptions: 's',
  payouts: 'o',
  balance: 'b',
  reports: 'e',
  reconciliation: 't',
  banks: 'i',
  webhooks: 'w',
  developers: 'd',
  alerts: 'a',
  audit: 'l',
  merchants: 'm',
  policies: 'f',
} as const;
export type Section = keyof typeof keyOf;
const sections = Object.keys(keyOf) as readonly Section[];

/** Sections that a merchant's people cannot open. */
const ofOperators: ReadonlySet<Section> = new Set(['alerts', 'banks', 'reconciliation']);

export const pathOf = (section: Section) => (section === 'home' ? '/' : (`/${section}` as const));

export const useSections = (): readonly Section[] => {
  const isOperator = usePermission('alerts').granted;
  return sections.filter((section) => isOperator || !ofOperators.has(section));
};

/** The section of a path; undefined when it is none's. */
export const sectionAt = (path: string): Section | undefined => {
  const [, name = ''] = path.replace(/^\/console/, '').split('/');
  return name === '' ? 'home' : sections.find((section) => section === name);
};

/** The section whose list is at a path; undefined elsewhere, also at one of its objects. */
export const listAt = (path: string): Section | undefined => {
  const section = sectionAt(path);
  const isList =
    section && section !== 'home' && path.replace(/^\/console/, '') === pathOf(section);
  return isList ? section : undefined;
};

type ToDecide = Readonly<
  Record<string, { readonly totalCount: Parameters<typeof countText>[0] | null }>
>;

/** How many drafts that others proposed wait for this person, who decides such drafts. */
const DraftsCount = ({
  permission,
  list,
  query,
  toApprove,
}: {
  readonly permission: 'payoutDraftApprove' | 'refundDraftApprove';
  readonly list: 'payout_drafts' | 'refund_drafts';
  readonly query: TypedDocumentNode<ToDecide, graph.DraftsToDecideQueryVariables>;
  readonly toApprove: string;
}) => {
  const { mode, merchantId } = useAddress();
  const isOn = usePermission(permission).granted;
  const asked = { merchantId, filter: { mode: [mode], isMine: false } };
  const { data } = useAsk(query, asked, { pause: !isOn, follow: { lists: [list] } });
  const total = Object.values(data ?? {})[0]?.totalCount;
  if (!total || total.count === 0) return null;
  return (
    <span className="badge" title={toApprove}>
      {countText(total)}
      <span className="unseen"> {toApprove}</span>
    </span>
  );
};

const follow: Followed = {
  lists: ['alerts', 'reconciliation_differences', 'webhook_failures'],
};

interface Listed {
  readonly nodes: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** The count of a list, as `20+` when it is longer than one page; undefined when it is empty. */
const textOf = (listed: Listed | null | undefined): string | undefined => {
  if (!listed || listed.nodes.length === 0) return undefined;
  return `${listed.nodes.length}${listed.pageInfo.hasNextPage ? '+' : ''}`;
};

const useCounts = (): Readonly<Partial<Record<Section, string | undefined>>> => {
  const { mode } = useAddress();
  const merchantId = useWhose();
  const { granted: platform } = usePermission('alerts');
  const { data } = useAsk(graph.Counts, { merchantId, mode, platform }, { follow });
  return {
    alerts: textOf(data?.alerts),
    webhooks: textOf(data?.webhookDeliveries),
    reconciliation: textOf(data?.reconciliationDifferences),
  };
};

// The filters that each section had last in this tab: a link to the section brings them back.

const storageKeyOf = (section: string): string => `console-filters-${section}`;

/** Keeps the filters of an address: no page, no open object, nothing that all sections share. */
export const rememberFilters = (section: string, search: Search): void => {
  const filters = without(search, 'mode', 'merchant', 'open', 'after', 'before', 'act');
  try {
    sessionStorage.setItem(storageKeyOf(section), new URLSearchParams(filters).toString());
  } catch {
    // A browser that keeps nothing.
  }
};

export const rememberedFilters = (section: string): Search => {
  try {
    const text = sessionStorage.getItem(storageKeyOf(section)) ?? '';
    return readSearch(Object.fromEntries(new URLSearchParams(text)));
  } catch {
    return {};
  }
};

export const Sections = () => {
  const { narrow } = useSettings();
  const counts = useCounts();
  const mine = useSections();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const here = sectionAt(path);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const link = nav.current?.querySelector('[aria-current]');
    link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [here]);
  return (
    <nav ref={nav} className="sections" aria-label={words.sectionsLabel}>
      <ul>
        {mine.map((section) => (
          <li key={section}>
            <Link
              to={pathOf(section)}
              search={section === here ? {} : rememberedFilters(section)}
              aria-current={here === section ? 'page' : undefined}
              title={words.sections[section]}
            >
              <Icon name={section} />
              <span>{words.sections[section]}</span>
              {counts[section] !== undefined && <span className="badge">{counts[section]}</span>}
              {section === 'payouts' && (
                <DraftsCount
                  permission="payoutDraftApprove"
                  list="payout_drafts"
                  query={graph.DraftsToDecide}
                  toApprove={draftWords.toApprove}
                />
              )}
              {section === 'refunds' && (
                <DraftsCount
                  permission="refundDraftApprove"
                  list="refund_drafts"
                  query={graph.RefundDraftsToDecide}
                  toApprove={refundDraftWords.toApprove}
                />
              )}
            </Link>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="icon-button narrow-switch"
        aria-pressed={narrow}
        aria-label={narrow ? words.widen : words.narrow}
        onClick={() => changeSettings({ narrow: !narrow })}
      >
        <Icon name="sides" />
      </button>
    </nav>
  );
};
