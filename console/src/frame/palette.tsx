/** Ctrl-K: opens a section, or any object that a text names, or does what is named. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Search as SearchObjects, type SearchQuery } from '../../../schema/generated/console.ts';
import { kept, useAddress, type Search } from '../address.ts';
import { money } from '../amounts.ts';
import { plainMoment, shortId, zoneName } from '../format.ts';
import { FindList, useRested } from '../parts/find-list.tsx';
import { Modal } from '../parts/modal.tsx';
import { Status, tones } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { methodText, PaymentStanding } from '../payments/shown.tsx';
import { logOut, useViewer, usePermission } from '../viewer.tsx';
import { changeSettings, themes, useSettings } from '../settings.ts';
import { useDraftWords } from '../words/drafts.ts';
import { usePeopleWords } from '../words/people.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { rememberedFilters, pathOf, useSections, type Section } from './sections.tsx';
import { setShortcuts } from './shortcuts.tsx';

/** Normalizes letters: ё becomes е, as most people type it. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase().replaceAll('ё', 'е');

// What a person can do from the search, by its name.

interface Act {
  readonly kind: 'act';
  readonly key: string;
  readonly name: string;
  readonly run: () => void;
}

/** Pages and dialogs beside the sections. */
const usePlaces = () => {
  const words = useWords();
  const navigate = useNavigate();
  const { search } = useAddress();
  const merchantId = useWhose();
  const make = { ...kept(search), act: 'new' };
  const mayPropose = usePermission('payoutDraftCreate').granted && merchantId !== null;
  return [
    [mayPropose, useDraftWords().make, () => navigate({ to: '/payouts', search: make })],
    [
      usePermission('merchantOnboard').granted,
      words.merchants.add,
      () => navigate({ to: '/merchants', search: make }),
    ],
    [true, useSharedWords().settings, () => navigate({ to: '/settings', search: kept(search) })],
    [
      usePermission('personSessionEnd').granted,
      usePeopleWords().title,
      () => navigate({ to: '/people', search: kept(search) }),
    ],
  ] as const;
};

/** The acts that this person may do. */
const useActs = (): readonly Act[] => {
  const { mode, person, shortcuts } = useWords();
  const { mode: here, set } = useAddress();
  const { language, density } = useSettings();
  const places = usePlaces();
  const other = here === 'test' ? 'live' : 'test';
  const rows = density === 'usual' ? 'compact' : 'usual';
  const all: readonly (readonly [isOffered: boolean, name: string, run: () => unknown])[] = [
    ...places,
    [
      true,
      `${mode.label}: ${mode[other]}`,
      () => set({ mode: other, after: undefined, before: undefined, open: undefined }),
    ],
    ...themes.map(
      (theme) =>
        [
          true,
          `${person.theme}: ${person.themes[theme]}`,
          () => changeSettings({ theme }),
        ] as const,
    ),
    [
      true,
      language === 'en' ? 'Язык: русский' : 'Language: English',
      () => changeSettings({ language: language === 'en' ? 'ru' : 'en' }),
    ],
    [true, `${person.rows}: ${person.density[rows]}`, () => changeSettings({ density: rows })],
    [true, shortcuts.title, () => setShortcuts(true)],
    [true, person.logOut, logOut],
  ];
  return all
    .filter(([isOffered]) => isOffered)
    .map(([, name, run]) => ({ kind: 'act', key: `act ${name}`, name, run: () => void run() }));
};

// Search results: their texts and their places in the console.

type Hit = SearchQuery['search'][number];
type Payment = NonNullable<Hit['payment']>;
interface Of {
  /** Unique among the results. */
  readonly key: string;
  readonly merchantId: string;
  readonly at: string;
}
type FoundObject =
  | (Of & { readonly kind: 'payment'; readonly payment: Payment })
  | (Of & {
      readonly kind: 'refund';
      readonly payment: Payment;
      readonly refund: NonNullable<Hit['refund']>;
    })
  | (Of & { readonly kind: 'payout'; readonly payout: NonNullable<Hit['payout']> })
  | (Of & {
      readonly kind: 'subscription';
      readonly subscription: NonNullable<Hit['subscription']>;
    })
  | (Of & { readonly kind: 'payment_link'; readonly id: string });

type Found =
  | FoundObject
  | { readonly kind: 'section'; readonly key: string; readonly section: Section }
  | Act;

/** A hit as the console shows it; an object without a screen is shown as its payment. */
const objectOf = (hit: Hit): FoundObject | null => {
  const { kind, id, merchantId, at, payment, refund, payout, subscription } = hit;
  if (merchantId === null) return null;
  const of = { key: `${kind} ${merchantId} ${id}`, merchantId, at };
  if (refund && payment) return { ...of, kind: 'refund', refund, payment };
  if (payout) return { ...of, kind: 'payout', payout };
  if (subscription) return { ...of, kind: 'subscription', subscription };
  if (kind === 'payment_link') return { ...of, kind, id };
  return payment
    ? { ...of, key: `payment ${payment.merchantId} ${payment.id}`, kind: 'payment', payment }
    : null;
};

/**
 * The results without duplicates: a payment that matches by itself and by its parts appears once.
 */
const objectsIn = (hits: readonly Hit[]): readonly FoundObject[] => [
  ...new Map(
    hits.flatMap((hit) => {
      const one = objectOf(hit);
      return one ? [[one.key, one] as const] : [];
    }),
  ).values(),
];

const sectionOf = ({ kind }: FoundObject): Section => {
  switch (kind) {
    case 'payment':
      return 'payments';
    case 'refund':
      return 'refunds';
    case 'payout':
      return 'payouts';
    case 'subscription':
      return 'subscriptions';
    case 'payment_link':
      return 'paylinks';
  }
};

const second_ms = 1_000;

/** The second of its creation: a list filtered by it shows little else. */
const madeIn = (at: string): Search => {
  const from_ms = Math.floor(Date.parse(at) / second_ms) * second_ms;
  return {
    since: new Date(from_ms).toISOString(),
    until: new Date(from_ms + second_ms).toISOString(),
  };
};

/** The address of a result: merchant, mode, and the open object or the filtered list. */
const placeOf = (one: FoundObject): Search => {
  const merchant = one.merchantId;
  switch (one.kind) {
    case 'payment': {
      const { merchantId, id, mode } = one.payment;
      return { mode, open: `${merchantId}/${id}` };
    }
    case 'refund': {
      const { mode, id } = one.payment;
      return { mode, merchant, ...madeIn(one.at), open: `${merchant}/${id}` };
    }
    case 'payout':
      return { mode: one.payout.mode, merchant, open: `${merchant}/${one.payout.id}` };
    case 'subscription': {
      const { id, mode } = one.subscription;
      return { mode, merchant, open: `${merchant}/${id}` };
    }
    case 'payment_link':
      return { merchant, open: one.id };
  }
};

const PaymentText = ({ payment }: { readonly payment: Payment }) => {
  const words = useWords();
  const isOfMerchant = useViewer().merchantId !== null;
  const { shopName, merchant } = payment;
  return (
    <>
      <span>{money(payment.amount, payment.currency, words.locale)}</span>
      <span>{payment.orderId}</span>
      <PaymentStanding payment={payment} />
      <span className="quiet found-facts">
        {plainMoment(payment.createdAt, words.locale)} · {methodText(payment, words)} · {shopName}
        {!isOfMerchant && ` · ${merchant.name}`} · <span className="mono">{payment.publicId}</span>
      </span>
    </>
  );
};

const ObjectText = ({ one }: { readonly one: FoundObject }) => {
  const words = useWords();
  switch (one.kind) {
    case 'payment':
      return <PaymentText payment={one.payment} />;
    case 'refund':
      return (
        <>
          <span>{money(one.refund.amount, one.payment.currency, words.locale)}</span>
          <span>{one.payment.orderId}</span>
          <Status tone={tones[one.refund.status]}>
            {words.refund.statuses[one.refund.status]}
          </Status>
        </>
      );
    case 'payout':
      return (
        <>
          <span>{money(one.payout.amount, one.payout.currency, words.locale)}</span>
          <Status tone={tones[one.payout.status]}>
            {words.payout.statuses[one.payout.status]}
          </Status>
        </>
      );
    case 'subscription':
      return (
        <>
          <span>{money(one.subscription.amount, one.subscription.currency, words.locale)}</span>
          <span>{one.subscription.customerRef}</span>
        </>
      );
    case 'payment_link':
      return <span className="quiet mono">{shortId(one.id)}</span>;
  }
};

/** One result line; the section comes first, unless it is a payment. */
const FoundText = ({ one }: { readonly one: Found }) => {
  const { sections } = useWords();
  if (one.kind === 'act') return <span>{one.name}</span>;
  if (one.kind === 'section') return <span>{sections[one.section]}</span>;
  return (
    <span className="found">
      {one.kind !== 'payment' && <span className="quiet">{sections[sectionOf(one)]}</span>}
      <ObjectText one={one} />
    </span>
  );
};

const useFound = (text: string) => {
  const words = useWords();
  const { merchantId } = useAddress();
  const rested = useRested(text.trim());
  const asked = { text: rested, merchantId, timeZone: zoneName() };
  const { data, fetching } = useAsk(SearchObjects, asked, rested.length < 3);
  const isNamed = (name: string): boolean => folded(name).includes(folded(text.trim()));
  const sections = useSections()
    .filter((section) => isNamed(words.sections[section]))
    .map((section) => ({ kind: 'section', key: section, section }) as const);
  const acts = useActs().filter(({ name }) => isNamed(name));
  const objects = rested.length < 3 ? [] : objectsIn(data?.search ?? []);
  return { found: [...objects, ...sections, ...acts] as readonly Found[], fetching };
};

/** The target of a choice. */
const useGo = (close: () => void): ((one: Found) => void) => {
  const navigate = useNavigate();
  const { search } = useAddress();
  return (one) => {
    close();
    if (one.kind === 'act') return one.run();
    return void navigate(
      one.kind === 'section'
        ? {
            to: pathOf(one.section),
            search: { ...rememberedFilters(one.section), ...kept(search) },
          }
        : { to: pathOf(sectionOf(one)), search: { ...kept(search), ...placeOf(one) } },
    );
  };
};

export const Palette = ({ close }: { readonly close: () => void }) => {
  const words = useWords();
  const go = useGo(close);
  const [text, setText] = useState('');
  const { found, fetching } = useFound(text);
  return (
    <Modal title={words.search} isOpen isDismissable onClose={close}>
      <FindList
        label={words.searchHint}
        listLabel={words.goTo}
        text={text}
        setText={setText}
        found={found}
        choose={go}
        show={(one) => <FoundText one={one} />}
        status={found.length === 0 && !fetching ? `${words.searchEmpty} ${words.searchWays}` : ''}
      />
    </Modal>
  );
};
