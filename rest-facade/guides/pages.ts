/** The guides: their languages, order and addresses. A page is `<language>/<name>.md`. */

export const guideLanguages = ['en', 'ru'] as const;
export type GuideLanguage = (typeof guideLanguages)[number];

/** The pages by group, in the order in which a merchant needs them. */
export const guideGroups = [
  { group: 'start', names: ['quickstart', 'testing', 'going-live'] },
  { group: 'payments', names: ['accept-a-payment', 'two-step', 'refunds', 'receipts', 'links'] },
  { group: 'more', names: ['saved-methods', 'payouts', 'reconciliation'] },
  {
    group: 'integration',
    names: ['webhooks', 'verify-webhooks', 'idempotency', 'errors', 'details'],
  },
  { group: 'people', names: ['operators'] },
] as const;

export type GuideGroup = (typeof guideGroups)[number]['group'];
export type GuideName = (typeof guideGroups)[number]['names'][number];

/** All of them, in order. */
export const guideNames: readonly GuideName[] = guideGroups.flatMap(({ names }) => [...names]);

/** The address of a page. */
export const guidePath = (language: GuideLanguage, name: GuideName): string =>
  `/docs/${language}/${name}/`;

/** Pages outside the guides, in English only: the reference and its companions. */
export const otherPages = ['/docs/reference/', '/docs/changelog/'] as const;
export type OtherPage = (typeof otherPages)[number];

/** Addresses without a language, which the reference and the schema name. */
export const shortPaths = {
  '/docs/webhooks': 'verify-webhooks',
  '/docs/notes': 'details',
} as const satisfies Readonly<Record<string, GuideName>>;
