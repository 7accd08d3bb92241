/** Reads what was typed: amounts, numbers, pairs. */
import type { Given, Options } from './command.ts';
import { isIdempotencyKey } from '../transport.ts';
import { Failure } from './failure.ts';

/** An integer of minor units. */
export const readAmount = (text: string, name = '--amount'): number => {
  const amount = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(amount))
    throw new Failure('usage', `${name}: expected minor units, as 10000 for 100.00`);
  return amount;
};

/** An integer from 1. */
export const readCount = (text: string | undefined, fallback: number, name: string): number => {
  if (text === undefined) return fallback;
  const count = Number(text);
  if (!/^\d{1,9}$/.test(text) || count < 1)
    throw new Failure('usage', `${name}: expected a number from 1`);
  return count;
};

/** Pairs as `a=1`, each with a name of its own. Values may have commas. */
export const readPairs = (
  texts: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const name = text.slice(0, equals);
    if (equals < 1) throw new Failure('usage', '--metadata: expected name=value');
    if (pairs.has(name)) throw new Failure('usage', `--metadata: ${name} is given more than once`);
    pairs.set(name, text.slice(equals + 1));
  }
  return texts.length === 0 ? undefined : Object.fromEntries(pairs);
};

/** One of a closed list. */
export const readChoice = <Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
  name: string,
): Choice | undefined => {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found === undefined)
    throw new Failure('usage', `${name}: expected one of ${choices.join(', ')}`);
  return found;
};

/** The options that creating calls share. */
export const creating: Options = {
  'idempotency-key': { says: 'of your own: what is repeated under it is done once', value: 'key' },
};

/** What those options say to the SDK. */
export const callOptionsOf = (given: Given): { readonly idempotencyKey?: string } => {
  const idempotencyKey = given.text('idempotency-key');
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey))
    throw new Failure('usage', '--idempotency-key: expected 1 to 64 printable ASCII characters');
  return idempotencyKey === undefined ? {} : { idempotencyKey };
};

/** Only what was given. */
export const present = <Value extends object>(
  value: Value,
): { [Name in keyof Value]: Exclude<Value[Name], undefined> } =>
  Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined),
    // The type says that what was undefined is not there.
  ) as { [Name in keyof Value]: Exclude<Value[Name], undefined> };
