/**
 * Which language the page speaks: the switch on the page (`?lang=`), what it was before (a
 * cookie), else the browser's preference.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { en } from './words/en.ts';
import { ru } from './words/ru.ts';
import { languages, type Language, type Words } from './words/words.ts';

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
export const wordsOf = (language: Language): Words => {
  switch (language) {
    case 'ru':
      return ru;
    case 'en':
      return en;
  }
};
