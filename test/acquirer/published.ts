/**
 * The acquirer's own published description (OpenAPI 3.0), where there is a copy of it: whole
 * exchanges are held to it, beside the project's own description of the part that is used.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { ApiRequest, ApiResponse } from './exchange.ts';

interface Variants {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly propertyName: string };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isVariants = (
  schema: Record<string, unknown>,
): schema is Record<string, unknown> & Variants => 'oneOf' in schema && 'discriminator' in schema;

/** What a pointer of the document points at. */
const at = (document: any, pointer: string): any =>
  pointer
    .slice(2)
    .split('/')
    .reduce((found, name) => found[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);

/** Which value of the discriminator means which variant: the variants' common base says it. */
const mappingOf = (document: any, { oneOf }: Variants): Readonly<Record<string, string>> => {
  const bases = at(document, oneOf[0]?.$ref ?? '').allOf.map(({ $ref }: { $ref?: string }) =>
    $ref === undefined ? {} : at(document, $ref),
  );
  return bases.find((base: any) => base.discriminator?.mapping).discriminator.mapping;
};

const isPattern = (text: unknown): boolean => {
  try {
    return new RegExp(String(text)) instanceof RegExp;
  } catch {
    return false;
  }
};

/**
 * The same description with variants chosen by their discriminator, as OpenAPI means it: as plain
 * JSON Schema several would fit one value. Patterns that are no regular expressions, of which it
 * has some, are left out.
 */
const withChosenVariants = (document: any, schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => withChosenVariants(document, each));
  if (!isRecord(schema)) return schema;
  if (!isVariants(schema)) {
    const kept = Object.entries(schema).filter(
      ([name, value]) => name !== 'pattern' || isPattern(value),
    );
    return Object.fromEntries(
      kept.map(([name, value]) => [name, withChosenVariants(document, value)]),
    );
  }
  const { propertyName } = schema.discriminator;
  const refs = schema.oneOf.map(({ $ref }) => $ref);
  const chosen = Object.entries(mappingOf(document, schema)).filter(([, $ref]) =>
    refs.includes($ref),
  );
  return {
    type: 'object',
    required: [propertyName],
    properties: { [propertyName]: { enum: chosen.map(([value]) => value) } },
    oneOf: chosen.map(([value, $ref]) => ({
      properties: { [propertyName]: { const: value } },
      $ref,
    })),
  };
};

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The operations that are checked: the path as it is described, and how one is recognised. */
const used = [
  ['/payments', /^\/payments$/],
  ['/payments/{payment_id}', /^\/payments\/[^/]+$/],
  ['/payments/{payment_id}/capture', /^\/payments\/[^/]+\/capture$/],
  ['/payments/{payment_id}/cancel', /^\/payments\/[^/]+\/cancel$/],
  ['/payment_methods/{payment_method_id}', /^\/payment_methods\/[^/]+$/],
  ['/refunds', /^\/refunds$/],
  ['/refunds/{refund_id}', /^\/refunds\/[^/]+$/],
  ['/receipts', /^\/receipts$/],
  ['/receipts/{receipt_id}', /^\/receipts\/[^/]+$/],
  ['/me', /^\/me$/],
  ['/payouts', /^\/payouts$/],
  ['/payouts/search', /^\/payouts\/search$/],
  ['/payouts/{payout_id}', /^\/payouts\/[^/]+$/],
  ['/personal_data', /^\/personal_data$/],
  ['/sbp_banks', /^\/sbp_banks$/],
] as const;

const formats = { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ };
const asJson = `content/${escaped('application/json')}/schema`;

/** How one operation is described. */
interface Operation {
  readonly name: string;
  readonly body: ValidateFunction | null;
  readonly isParameter: (name: string) => boolean;
  readonly answers: ReadonlyMap<number, ValidateFunction>;
}

const openOperation = (
  document: any,
  compile: (pointer: string, more?: object) => ValidateFunction,
  path: string,
  verb: string,
): Operation => {
  const { requestBody, parameters = [], responses } = document.paths[path][verb];
  const base = `#/paths/${escaped(path)}/${verb}`;
  const named: any[] = parameters.map((each: any) => (each.$ref ? at(document, each.$ref) : each));
  const statuses = [200, 400, 404].filter((status) => responses[status]);
  return {
    name: `${verb} ${path}`,
    body: requestBody
      ? compile(`${base}/requestBody/${asJson}`, { unevaluatedProperties: false })
      : null,
    isParameter: (name) =>
      named.some(
        (one) =>
          name === one.name || (one.style === 'deepObject' && name.startsWith(`${one.name}[`)),
      ),
    answers: new Map(
      statuses.map((status) => [
        status,
        compile(`${responses[status].$ref ?? `${base}/responses/${status}`}/${asJson}`),
      ]),
    ),
  };
};

/**
 * Opens the description in `file`. The given function returns what of an exchange is not as
 * described, without repeating values.
 */
export const openPublished = (
  file: string,
): ((asked: ApiRequest, answered: ApiResponse) => readonly string[]) => {
  const read: any = parse(readFileSync(file, 'utf8'));
  const document: any = withChosenVariants(read, read);
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    logger: false,
    unicodeRegExp: false,
    formats,
  });
  ajv.addSchema({ ...document, $id: 'published' });
  const compile = (pointer: string, more: object = {}): ValidateFunction =>
    ajv.compile({ ...more, $ref: `published${pointer}` });
  const verbs = ['get', 'post'];
  const open = used.flatMap(([path, pattern]) =>
    verbs.flatMap((verb) =>
      document.paths[path][verb]
        ? [{ pattern, verb, operation: openOperation(document, compile, path, verb) }]
        : [],
    ),
  );
  const mistakes = (name: string, check: ValidateFunction, value: unknown): string[] =>
    check(value)
      ? []
      : (check.errors ?? []).map(
          ({ instancePath, message }) => `published: ${name} ${instancePath} ${message ?? ''}`,
        );
  return ({ method, path, query, body }, { status, body: answer }) => {
    const found = open.find(
      ({ pattern, verb }) => verb === method.toLowerCase() && pattern.test(path),
    )?.operation;
    if (!found) return [`published: ${method} ${path} is not described`];
    const { name, body: bodyCheck, isParameter, answers } = found;
    const asked = bodyCheck && status === 200 ? mistakes(name, bodyCheck, body) : [];
    const strange = [...query.keys()]
      .filter((key) => !isParameter(key))
      .map((key) => `published: ${name} has no parameter ${key}`);
    const check = answers.get(status);
    return [
      ...asked,
      ...strange,
      ...(check ? mistakes(name, check, answer) : [`published: ${name} has no status ${status}`]),
    ];
  };
};
