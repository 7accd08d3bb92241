/**
 * How the page speaks to a buyer: the language, amounts and moments. The language: the switch on the page (`?lang=`), what it was before (a
 * cookie), else the browser's preference.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { digitsOf } from '../../schema/currencies.ts';
import { formatMoney } from '../../schema/money-format.ts';
import { en, type Words } from './words/en.ts';
import { ru } from './words/ru.ts';
import { languages, type FailureWords, type Language } from './words/words.ts';

const cookieName = 'pay_lang';
const cookieAge_s = 31_536_000;

const known = (value: unknown): Language | null =>
  languages.find((language) => language === value) ?? null;

const switched = (request: FastifyRequest): Language | null => {
  const { query } = request;
  return typeof query === 'object' && query !== null && 'lang' in query ? known(query.lang) : null;
};

const remembered = (header: string | undefined): Language | null =>
  known(new RegExp(`(?:^|;\\s*)${cookieName}=(\\w+)`).exec(header ?? '')?.[1]);

/**
 * The language that an Accept-Language header prefers. A reader of other languages gets English;
 * without any preference the page speaks Russian, as most of its buyers do.
 */
export const preferredLanguage = (header: string | undefined): Language => {
  const ranges = (header ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = Number(
        parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1,
      );
      return { primary: tag.split('-')[0] ?? '', weight: Number.isFinite(weight) ? weight : 0 };
    })
    .filter(({ primary, weight }) => primary !== '' && primary !== '*' && weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  for (const { primary } of ranges) {
    const language = known(primary);
    if (language) return language;
  }
  return ranges.length > 0 ? 'en' : 'ru';
};

/** The language of an answer. */
export const chooseLanguage = (request: FastifyRequest): Language =>
  switched(request) ??
  remembered(request.headers.cookie) ??
  preferredLanguage(request.headers['accept-language']);

/** Remembers a switch on a page in a cookie, which holds nothing else. */
export const rememberSwitch = (request: FastifyRequest, reply: FastifyReply): void => {
  const language = switched(request);
  if (language)
    void reply.header(
      'set-cookie',
      `${cookieName}=${language}; Path=/pay; Max-Age=${cookieAge_s}; SameSite=Lax; HttpOnly`,
    );
};

/** The texts of a language. */
export const wordsOf = (language: Language): Words => ({ ru, en })[language];

/** A refusal or an error code in the buyer's words. */
export const refusalWords = ({ refusals, refused }: Words, code: string): string =>
  Object.entries(refusals).find(([key]) => key === code)?.[1] ?? refused;

/** The words of a failure; null for a code that no payment ends with. */
export const failureWords = (words: Words, code: string): FailureWords | null =>
  Object.entries(words.failures).find(([key]) => key === code)?.[1] ?? null;

/**
 * `amount` (minor units) in the currency and locale. Whole amounts have no zeros after the point,
 * except where three digits may follow it: a buyer who types the shown amount must not be misread.
 */
export const formatAmount = (amount: number, currency: string, locale: string): string =>
  formatMoney(
    amount,
    currency,
    locale,
    digitsOf(currency) < 3 ? { trailingZeroDisplay: 'stripIfInteger' } : {},
  );

/** Moments are in Moscow's time, so that a print means the same everywhere. */
const timeZone = 'Europe/Moscow';

/** Day and minute of `instant` (RFC 3339) in Moscow, with the name of that time. */
export const formatTime = (instant: string, { locale, moscowTime }: Words): string => {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  });
  return `${format.format(new Date(instant))} ${moscowTime}`;
};

/** Day of `instant` (RFC 3339) in Moscow. */
export const formatDay = (instant: string, { locale }: Words): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(new Date(instant));
