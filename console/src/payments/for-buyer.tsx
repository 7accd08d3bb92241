/** The text for a payment's buyer: what happened, what to do, and what the bank needs. */
import { useState } from 'react';
import { plainMoment, money } from '../format.ts';
import { CopyBlock } from '../parts/texts.tsx';
import { useSettings, type Settings } from '../settings.ts';
import { buyerSentences, buyerWords, type BuyerSentences } from '../words/buyer.ts';
import { refundsUnderWay, type PaymentDetails } from './shown.tsx';

/** The code of the bank's last refusal. */
const failureOf = ({ timeline }: PaymentDetails): string | undefined =>
  timeline
    .flatMap((one) => (one.__typename === 'TimelineBankCall' ? (one.failureCode ?? []) : []))
    .at(-1);

/** What happened to the money, after the sentence about the status. */
const moneyLines = (
  payment: PaymentDetails,
  sentences: BuyerSentences,
  told: Parameters<BuyerSentences['partlyRefunded']>[0],
): string[] => {
  const { status, amountRefunded } = payment;
  const isPart = status === 'succeeded' && amountRefunded > 0;
  const isOnItsWay = refundsUnderWay(payment).length > 0;
  const said = (isSaid: boolean, text: string): string[] => (isSaid ? [text] : []);
  const failure = sentences.failures[failureOf(payment) ?? ''] ?? sentences.otherFailure;
  return [
    ...said(status === 'failed', failure),
    ...said(status === 'failed' || status === 'expired', sentences.notCharged),
    ...said(isPart, sentences.partlyRefunded(told)),
    ...said(payment.lateSuccess, sentences.late),
    ...said(isOnItsWay, sentences.refundUnderWay),
    ...said(
      isPart || isOnItsWay || payment.lateSuccess || status === 'refunded',
      sentences.arrival,
    ),
  ];
};

const textFor = (payment: PaymentDetails, language: Settings['language']): string => {
  const sentences = buyerSentences[language];
  const { locale } = sentences;
  const { currency, status, rrn, finalizedAt, captureBefore, receipts } = payment;
  const until = status === 'authorized' ? captureBefore : payment.expiresAt;
  const told = {
    amount: money(payment.amount, currency, locale),
    order: payment.orderId,
    shop: payment.shopName,
    at: plainMoment(finalizedAt ?? payment.createdAt, locale),
    until: plainMoment(until ?? payment.expiresAt, locale),
    refunded: money(payment.amountRefunded, currency, locale),
  };
  const bank = payment.customerPayerBank ?? payment.bankName;
  const registered = receipts.flatMap(
    ({ fiscalDocumentNumber, fiscalStorageNumber, fiscalAttribute }) =>
      fiscalDocumentNumber === null || fiscalStorageNumber === null || fiscalAttribute === null
        ? []
        : [sentences.receipt(fiscalDocumentNumber, fiscalStorageNumber, fiscalAttribute)],
  );
  return [
    [sentences.statuses[status](told), ...moneyLines(payment, sentences, told)].join(' '),
    sentences.number(payment.publicId),
    ...(rrn === null ? [] : [sentences.rrn(rrn)]),
    ...(bank === null ? [] : [sentences.bank(bank)]),
    ...registered,
  ].join('\n');
};

const languages = ['ru', 'en'] as const;

export const ForBuyer = ({ payment }: { readonly payment: PaymentDetails }) => {
  const own = useSettings().language;
  const [chosen, setChosen] = useState<Settings['language']>(own);
  return (
    <section className="for-buyer" aria-label={buyerWords.title}>
      <header className="line">
        <h2>{buyerWords.title}</h2>
        <label className="field">
          <select
            aria-label={buyerWords.language}
            value={chosen}
            onChange={({ target }) => setChosen(target.value === 'en' ? 'en' : 'ru')}
          >
            {languages.map((language) => (
              <option key={language} value={language}>
                {buyerSentences[language].name}
              </option>
            ))}
          </select>
        </label>
      </header>
      <CopyBlock text={textFor(payment, chosen)} />
    </section>
  );
};
