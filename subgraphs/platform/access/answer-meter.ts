/**
 * The size limit of an answer to a caller's own document, counted while the answer is made: a bound
 * beforehand does not know the length of a list or of a text. Each process counts what it makes.
 */
import { GraphQLError } from 'graphql';

/** In characters. */
export const answerSize_max = 2_097_152;
/**
 * The size of an answer by the stock executor, which takes several times as long for each value.
 */
export const stockAnswerSize_max = answerSize_max / 4;
/** An object, a field or an item of a list, besides its text. */
export const valueSize = 52;
/** Scalars whose length is not worth counting. */
export const shortScalars: ReadonlySet<string> = new Set([
  'Int',
  'Float',
  'Boolean',
  'MinorUnits',
  'SignedMinorUnits',
  'DateTime',
]);

const code = 'query_too_complex';

export class AnswerMeter {
  /** Resolves when the answer is found too large. */
  readonly ended: Promise<void>;
  /**
   * The value of a field of an ended answer: nothing waits for it, and it avoids the cost of
   * thousands of field errors.
   */
  readonly never = new Promise<never>(() => {});
  /** The refusal of the answer, worded like the other limits. */
  readonly refusal = new GraphQLError(
    `The answer is larger than ${answerSize_max} characters, of which each value counts ${valueSize}; request less at a time.`,
    { extensions: { code, http: { status: 400 } } },
  );
  #left: number;
  #exceeded = false;
  readonly #end: () => void;

  constructor(size: number) {
    this.#left = size;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** So many rows need be read: one more than fit. */
  get rows_max(): number {
    return Math.ceil(Math.max(0, this.#left) / valueSize) + 1;
  }

  /** Takes room. Throws the refusal when there is not so much. */
  take(size: number): void {
    this.#left -= size;
    if (this.#left < 0) throw this.end();
  }

  /**
   * Counts what a scalar holds in addition to its own value: a text, a list of texts, or a map with
   * its keys.
   */
  takeContent(value: unknown): void {
    if (typeof value === 'string') this.take(value.length);
    else if (Array.isArray(value)) for (const item of value) this.#takeItem('', item);
    else if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value)) this.#takeItem(key, Reflect.get(value, key));
  }

  #takeItem(key: string, item: unknown): void {
    this.take(valueSize + key.length);
    this.takeContent(item);
  }

  /** Ends the answer: it is too large. Gives the refusal. */
  end(): GraphQLError {
    this.#exceeded = true;
    this.#end();
    return this.refusal;
  }

  /** Ends the answer when another process refused its part of it as too large. */
  endWith(errors: readonly GraphQLError[] = []): void {
    if (errors.some(({ extensions }) => extensions['code'] === code)) this.end();
  }
}
