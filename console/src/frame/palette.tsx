/** Ctrl-K: opens a section, or any object that a text names, or does what is named. */
import { useNavigate } from '@tanstack/react-router';
import { createElement, Fragment, useState, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress, type Search } from '../address.ts';
import { plainMoment, shortId, zoneName, money } from '../format.ts';
import { FindList, useRested } from '../parts/find-list.tsx';
import { Modal } from '../parts/modal.tsx';
import { Status, tones } from '../parts/texts.tsx';
import { objectKey } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { methodText, PaymentStanding } from '../payments/shown.tsx';
import { logOut, useViewer, usePermission } from '../viewer.tsx';
import { changeSettings, useSettings } from '../settings.ts';
import { draftWords } from '../words/drafts.ts';
import { peopleWords } from '../words/people.ts';
import { sharedWords } from '../words/shared.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { rememberedFilters, pathOf, useSections, type Section } from './sections.tsx';
import { setShortcuts } from './shortcuts.tsx';

/** Normalizes letters: ё becomes е, as most people type it. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase().replaceAll('ё', 'е');

const usePlaces = () => {
  const navigate = useNavigate();
  const merchantId = useWhose();
  const make = { act: 'new' };
  const mayPropose = usePermission('payoutDraftCreate').granted && merchantId !== null;
  return [
    [mayPropose, draftWords.make, () => navigate({ to: '/payouts', search: make })],
    [
      usePermission('merchantOnboard').granted,
      words.merchants.add,
      () => navigate({ to: '/merchants', search: make }),
    ],
    [true, sharedWords.settings, () => navigate({ to: '/settings' })],
    [
      usePermission('personSessionEnd').granted,
      peopleWords.title,
      () => navigate({ to: '/people' }),
    ],
  ] as const;
};

const useActs = () => {
  const { mode: here, set } = useAddress();
  const { language, density } = useSettings();
  const places = usePlaces();
  const other = here === 'test' ? 'live' : 'test';
  const rows = density === 'usual' ? 'compact' : 'usual';
  const all: readonly (readonly [isOffered: boolean, name: string, run: () => unknown])[] = [
    ...places,
    [
      true,
      `${words.mode.label}: ${words.mode[other]}`,
      () => set({ mode: other, open: undefined }),
    ],
    ...optionsOf(words.person.themes).map(
      ([theme, name]) =>
        [true, `${words.person.theme}: ${name}`, () => changeSettings({ theme })] as const,
    ),
    [
      true,
      language === 'en' ? 'Язык: русский' : 'Language: English',
      () => changeSettings({ language: language === 'en' ? 'ru' : 'en' }),
    ],
    [
      true,
      `${words.person.rows}: ${words.person.density[rows]}`,
      () => changeSettings({ density: rows }),
    ],
    [true, words.shortcuts.title, () => setShortcuts(true)],
    [true, words.person.logOut, logOut],
  ];
  return all
    .filter(([isOffered]) => isOffered)
    .map(([, name, run]) => ({ key: `act ${name}`, name, run }));
};

type Hit = graph.SearchQuery['search'][number];
type Payment = NonNullable<Hit['payment']>;
const second_ms = 1_000;

/** The second of its creation: a list filtered by it shows little else. */
const madeIn = (at: string): Search => {
  const from_ms = Math.floor(Date.parse(at) / second_ms) * second_ms;
  return {
    since: new Date(from_ms).toISOString(),
    until: new Date(from_ms + second_ms).toISOString(),
  };
};

const PaymentText = ({ payment }: { readonly payment: Payment }) => {
  const isOfMerchant = useViewer().merchantId !== null;
  const { shopName, merchant } = payment;
  return (
    <>
      <span>{money(payment.amount, payment.currency)}</span>
      <span>{payment.orderId}</span>
      <PaymentStanding payment={payment} />
      <span className="quiet found-facts">
        {plainMoment(payment.createdAt)} · {methodText(payment)} · {shopName}
        {!isOfMerchant && ` · ${merchant.name}`} · <span className="mono">{payment.publicId}</span>
      </span>
    </>
  );
};

interface FoundObject {
  readonly key: string;
  readonly section: Section;
  readonly place: Search;
  readonly text: ReactNode;
}

const listedOf = (hit: Hit, merchant: string): FoundObject | null => {
  const { kind, id, at, payment, refund, payout, subscription } = hit;
  const listed = (section: Section, place: Search, ...parts: ReactNode[]): FoundObject => {
    const name = <span className="quiet">{words.sections[section]}</span>;
    return {
      key: `${kind} ${merchant} ${id}`,
      section,
      place: { merchant, ...place },
      text: createElement(Fragment, null, name, ...parts),
    };
  };
  const sum = (of: number, currency: string) => <span>{money(of, currency)}</span>;
  if (refund && payment)
    return listed(
      'refunds',
      { mode: payment.mode, ...madeIn(at), open: `${merchant}/${payment.id}` },
      sum(refund.amount, payment.currency),
      <span>{payment.orderId}</span>,
      <Status tone={tones[refund.status]}>{words.refund.statuses[refund.status]}</Status>,
    );
  if (payout)
    return listed(
      'payouts',
      { mode: payout.mode, open: `${merchant}/${payout.id}` },
      sum(payout.amount, payout.currency),
      <Status tone={tones[payout.status]}>{words.payout.statuses[payout.status]}</Status>,
    );
  if (subscription)
    return listed(
      'subscriptions',
      { mode: subscription.mode, open: `${merchant}/${subscription.id}` },
      sum(subscription.amount, subscription.currency),
      <span>{subscription.customerRef}</span>,
    );
  if (kind === 'payment_link')
    return listed('paylinks', { open: id }, <span className="quiet mono">{shortId(id)}</span>);
  return null;
};

/** A hit as the console shows it; an object without a screen is shown as its payment. */
const objectOf = (hit: Hit): FoundObject | null => {
  const { merchantId, payment } = hit;
  if (merchantId === null) return null;
  const listed = listedOf(hit, merchantId);
  if (listed || !payment) return listed;
  return {
    key: `payment ${payment.merchantId} ${payment.id}`,
    section: 'payments',
    place: { mode: payment.mode, open: objectKey(payment) },
    text: <PaymentText payment={payment} />,
  };
};

/**
 * The results without duplicates: a payment that matches by itself and by its parts appears once.
 */
const objectsIn = (hits: readonly Hit[]): readonly FoundObject[] => {
  const all = hits.map((hit) => objectOf(hit)).filter((one) => one !== null);
  return [...new Map(all.map((one) => [one.key, one])).values()];
};

const useFound = (text: string) => {
  const navigate = useNavigate();
  const { merchantId } = useAddress();
  const rested = useRested(text.trim());
  const asked = { text: rested, merchantId, timeZone: zoneName() };
  const { data, fetching } = useAsk(graph.Search, asked, { pause: rested.length < 3 });
  const go = (section: Section, place: Search) => () =>
    void navigate({ to: pathOf(section), search: place });
  const sections = useSections().map((section) => ({
    key: section,
    name: words.sections[section],
    run: go(section, rememberedFilters(section)),
  }));
  const named = [...sections, ...useActs()]
    .filter(({ name }) => folded(name).includes(folded(text.trim())))
    .map(({ key, name, run }) => ({ key, text: <span>{name}</span>, run }));
  const objects = objectsIn(rested.length < 3 ? [] : (data?.search ?? [])).map((one) => ({
    key: one.key,
    text: <span className="found">{one.text}</span>,
    run: go(one.section, one.place),
  }));
  return { found: [...objects, ...named], fetching };
};

export const Palette = ({ close }: { readonly close: () => void }) => {
  const [text, setText] = useState('');
  const { found, fetching } = useFound(text);
  return (
    <Modal title={words.search} isDismissable onClose={close}>
      <FindList
        label={words.searchHint}
        listLabel={words.goTo}
        text={text}
        setText={setText}
        found={found}
        choose={({ run }) => {
          close();
          void run();
        }}
        show={({ text: shown }) => shown}
        status={found.length === 0 && !fetching ? `${words.searchEmpty} ${words.searchWays}` : ''}
      />
    </Modal>
  );
};
