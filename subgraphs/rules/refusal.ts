/**
 * Refusals: the closed list of docs/contract.md#errors. A refusal is a value; a broken invariant
 * throws.
 */
import { enums } from '../../schema/generated/enums.ts';

export const refusalCodes = enums.RefusalCode;

export type RefusalCode = (typeof refusalCodes)[number];

/** A field of a body or a query, and what is wrong with it. */
export interface FieldMistake {
  /** `items[2].price`. */
  readonly path: string;
  /** What was expected and what came. */
  readonly message: string;
}

/** What an idempotency key was first used for. */
export interface FirstRequest {
  readonly method: string;
  readonly path: string;
  readonly at: Temporal.Instant;
  /** Null for a call of the graph, which is found by its own operation. */
  readonly requestId: string | null;
}

/**
 * The operation was refused and nothing was changed. The field names are those of the GraphQL type.
 */
export interface Refusal {
  readonly __typename: 'Refused';
  readonly code: RefusalCode;
  readonly message: string;
  /** Of `bad_request`, the fields with mistakes. */
  readonly fields: FieldMistake[];
  /** Of `idempotent_conflict`; null when it is not known. */
  readonly firstRequest: FirstRequest | null;
}

/** How many mistakes one refusal names. */
export const fieldMistakes_max = 20;

const inField = /^(?:a (?:name|value) in )?([a-z]\w*(?:\.[\w-]+|\[\d+\])*): (.+)$/s;

/** The field that a message begins with; null if it names none. */
export const fieldsOf = (code: string, message: string): FieldMistake[] => {
  const [, path, words] = (code === 'bad_request' && inField.exec(message)) || [];
  return path !== undefined && words !== undefined ? [{ path, message: words }] : [];
};

/** A refusal with a message that the caller can act on; never a card number or a secret. */
export const refuse = (
  code: RefusalCode,
  message: string,
  firstRequest: FirstRequest | null = null,
): Refusal => ({
  __typename: 'Refused',
  code,
  message,
  fields: fieldsOf(code, message),
  firstRequest,
});

/** Refuses with all mistakes at once, where there are any; the message is that of the first. */
export const refuseMistakes = (
  mistakes: readonly (string | null | undefined)[],
): Refusal | null => {
  const found = mistakes.flatMap((mistake) => mistake || []);
  const [first] = found;
  if (first === undefined) return null;
  const fields = new Map<string, FieldMistake>();
  for (const field of found.flatMap((mistake) => fieldsOf('bad_request', mistake)))
    if (!fields.has(field.path)) fields.set(field.path, field);
  return {
    ...refuse('bad_request', first),
    fields: [...fields.values()].slice(0, fieldMistakes_max),
  };
};

/** Whether a value is a refusal and not a result. */
export const isRefusal = (value: object): value is Refusal =>
  '__typename' in value && value.__typename === 'Refused';
