/**
 * Values as a broken or hostile client sends them: those that fit a schema, those that fit nothing,
 * and the former with some of the latter in them.
 */
import fc from 'fast-check';
import type { Schema } from '../../rest-facade/read-contract.ts';

declare global {
  interface JSON {
    /**
     * Whether a value was made by `JSON.rawJSON` (ES2025 proposal "JSON.parse source text access").
     */
    isRawJSON(value: unknown): boolean;
  }
}

/** Numbers that are no card's, and pass its check all the same. They must never be seen again. */
export const cardNumbers = [
  '4111111111111111',
  '5555555555554444',
  '2200000000000004',
  '4000000000000002',
] as const;

const oddCharacters = [
  '\0',
  '\ud800',
  '\udfff',
  '\u202e',
  '\u2028',
  '\ufeff',
  'e\u0301',
  '👩‍👩‍👧',
  '\x1b[31m',
  "'",
  '"',
  '\\',
  '%00',
  '${x}',
  '{{x}}',
];

/** Texts that break what takes them for something else. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  // What a database does not take.
  { weight: 3, arbitrary: fc.constantFrom('\0', 'a\0', '\ud800', 'a\udfff') },
  fc
    .array(fc.oneof(fc.constantFrom(...oddCharacters), fc.string({ maxLength: 3 })), {
      maxLength: 8,
    })
    .map((parts) => parts.join('')),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    'null',
    'undefined',
    'NaN',
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    "' or 1=1 --",
    '1e309',
    '٣',
  ),
  fc.constantFrom(
    '9999-12-32',
    '0000-00-00',
    '+010000-01-01',
    '2026-02-30',
    '2026-11-21T25:00:00Z',
    'https://',
    'https://[::1',
    'javascript:alert(1)',
  ),
  fc.constantFrom(...cardNumbers),
  fc.constantFrom(64, 255, 256, 501, 4_001, 20_000).map((length) => 'я'.repeat(length)),
);

/**
 * Numbers as they are written: at borders, beyond them, and in ways that mean an integer without
 * being one.
 */
const oddNumber: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    0,
    1,
    -1,
    100,
    200,
    201,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 53 - 1,
    10_080,
    10_081,
  ),
  fc
    .constantFrom(
      '9007199254740992',
      '9223372036854775807',
      '9223372036854775808',
      '1e400',
      '-1e400',
      '1.0',
      '1e2',
      '0.1',
      '-0',
      `1${'0'.repeat(400)}`,
    )
    .map(JSON.rawJSON),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const nested = (depth: number, list: boolean): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = list ? [value] : { a: value };
  return value;
};

/** Any JSON, much of it strange. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 4, arbitrary: oddNumber },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { length: -1 }),
  },
  { weight: 2, arbitrary: fc.dictionary(oddText, fc.oneof(oddText, oddNumber), { maxKeys: 22 }) },
  { weight: 1, arbitrary: fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(10, 100, 500), fc.boolean())
      .map(([depth, list]) => nested(depth, list)),
  },
);

/** Texts that have a form. */
const formed: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uri: fc.constantFrom(
    'https://shop.example/back?a=1#b',
    'https://shop.example',
    'https://xn--e1aybc.example/%7F',
  ),
  email: fc.constantFrom('a@b.example', 'a+b@sub.b.example'),
  date: fc.constantFrom('2026-11-20', '2026-11-21', '2026-01-01', '9999-12-31', '0001-01-01'),
  'iso-4217': fc.constantFrom('RUB', 'USD', 'JPY'),
  uuid: fc.uuid(),
};

const anyText = (least: number, most: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ minLength: least, maxLength: Math.min(most, 20) }),
    fc.string({ unit: 'grapheme', minLength: least, maxLength: Math.min(most, 10) }),
  );

const fittingText = ({
  format,
  pattern,
  minLength = 0,
  maxLength = 255,
  writeOnly,
}: Schema): fc.Arbitrary<unknown> => {
  const known = format === undefined ? undefined : formed[format];
  if (known) return known;
  if (writeOnly && pattern?.includes('16')) return fc.constantFrom(...cardNumbers);
  return pattern === undefined
    ? anyText(minLength, maxLength)
    : fc.stringMatching(new RegExp(pattern));
};

/**
 * Values that a schema takes, mostly: what it says in words alone is not met. Small amounts are the
 * most frequent, since there is little to spend.
 */
export const fitting = (schema: Schema): fc.Arbitrary<unknown> => {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return fc.oneof(...variants.map(fitting));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer') return fittingInteger(schema);
  if (schema.type === 'string') return fittingText(schema);
  if (schema.type === 'array')
    return fc.array(schema.items ? fitting(schema.items) : oddJson, {
      minLength: schema.minItems ?? 0,
      maxLength: 4,
    });
  return schema.type === 'object' ? fittingObject(schema) : oddJson;
};

const fittingInteger = ({ minimum = 0, maximum = 2 ** 53 - 1 }: Schema): fc.Arbitrary<unknown> => {
  const small = Math.max(minimum, 1);
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: small, max: Math.min(maximum, small + 999) }) },
    { weight: 1, arbitrary: fc.constantFrom(minimum, maximum) },
  );
};

const fittingObject = ({
  properties,
  required = [],
  additionalProperties,
}: Schema): fc.Arbitrary<unknown> => {
  if (!properties)
    return fc.dictionary(
      anyText(1, 20),
      typeof additionalProperties === 'object' ? fitting(additionalProperties) : oddText,
      { maxKeys: 4 },
    );
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, fitting(field)]),
  );
  return fc.record(fields, { requiredKeys: [...required] });
};

interface Mutation {
  readonly at: number;
  readonly how: 'replace' | 'leave out' | 'add' | 'wrap' | 'other text';
  readonly name: string;
  readonly value: unknown;
  /** What replaces a text: an odd one goes further than a value of another type. */
  readonly text: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('replace', 'replace', 'leave out', 'add', 'wrap'),
  name: fc.oneof(oddText, fc.constantFrom('status', 'merchant_id', 'idempotency', 'amount')),
  value: oddJson,
  text: oddText,
});

type Place = readonly [holder: Record<string, unknown>, name: string];

const isHolder = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value);

/**
 * The places of a value, with the object or list that holds each, not looking into what lies deeper
 * than any schema goes. A written number is no object.
 */
const placesIn = (holder: Record<string, unknown>, depth = 0): readonly Place[] =>
  Object.entries(holder).flatMap(([name, value]): readonly Place[] => [
    [holder, name],
    ...(isHolder(value) && depth < 8 ? placesIn(value, depth + 1) : []),
  ]);

const mutate = (original: unknown, mutations: readonly Mutation[]): unknown => {
  // The copy keeps written numbers as they are.
  const whole: Record<string, unknown> = { body: copied(original) };
  for (const { at, how, name, value, text } of mutations) {
    const places = placesIn(whole)
      .filter(([holder, name]) => how !== 'other text' || typeof holder[name] === 'string')
      .slice(0, 1_000);
    const [holder, key] = places[at % places.length] ?? [whole, 'body'];
    // A copy, since one value may come twice and even into itself; defined, since a name may be
    // __proto__.
    const put = (place: string, item: unknown) =>
      Object.defineProperty(holder, place, {
        value: item,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    if (how === 'replace') put(key, copied(value));
    else if (how === 'other text') put(key, text);
    else if (how === 'leave out') delete holder[key];
    else if (how === 'wrap') put(key, [holder[key]]);
    else put(name, copied(value));
  }
  return whole['body'];
};

const copied = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(copied);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copied(item)]));
};

const otherText: fc.Arbitrary<Mutation> = mutation.map((made) => ({ ...made, how: 'other text' }));

/** Values with up to three mistakes in them; some have none, some only an odd text. */
export const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const mutations = [
    fc.constant([]),
    fc.tuple(otherText),
    fc.tuple(mutation),
    fc.array(mutation, { minLength: 2, maxLength: 3 }),
  ];
  return fc.tuple(values, fc.oneof(...mutations)).map(([value, made]) => mutate(value, made));
};

/**
 * What becomes of a text on its way: most of the time nothing, else bytes that are lost, changed,
 * doubled, or in front of it.
 */
export const damaged = (texts: fc.Arbitrary<string>, mostly: number): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: mostly, arbitrary: texts.map((text) => Buffer.from(text)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(texts, fc.nat(), fc.nat({ max: 8 }), fc.uint8Array({ maxLength: 6 }))
        .map(([text, at, lost, put]) => {
          const bytes = Buffer.from(text);
          const cut = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(cut + lost)]);
        }),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          texts,
          fc.constantFrom(
            '\ufeff',
            '[',
            '{"a":',
            '{}',
            '\0',
            '['.repeat(100_000),
            '{"a":'.repeat(40_000),
          ),
        )
        .map(([text, front]) => Buffer.from(front + text)),
    },
  );
