/**
 * The size limit of an answer to a caller's own document, counted while the answer is made. An
 * estimate beforehand cannot know the length of a list; this can, and it ends an answer that is too
 * large.
 */
import { GraphQLError } from 'graphql';
import { is, number, object } from 'valibot';

/** Objects, their fields, and items of lists of scalars. */
export const answerValues_max = 40_000;
/** Characters of all texts together, names of fields left out. */
const answerCharacters_max = 2_097_152;

/** The remaining room of an answer, as one process sends it to another. */
export interface AnswerRoom {
  readonly values: number;
  readonly characters: number;
}

/** For an answer by the stock executor, which takes several times as long for each value. */
export const stockAnswerRoom: AnswerRoom = { values: 10_000, characters: answerCharacters_max };

/** Header of a call between processes: the room for its answer. Without it nothing is counted. */
export const answerRoomHeader = 'x-answer-room';

/** The room as a header. */
export const writeAnswerRoom = ({ values, characters }: AnswerRoom): string =>
  `${values} ${characters}`;

/** The room in a header; null when there is none that can be read. */
export const readAnswerRoom = (header: unknown): AnswerRoom | null => {
  const [, values, characters] =
    typeof header === 'string' ? (/^(\d{1,9}) (\d{1,9})$/.exec(header) ?? []) : [];
  return values === undefined || characters === undefined
    ? null
    : { values: Number(values), characters: Number(characters) };
};

/**
 * The result of a counted call as it is sent to the requesting process, with its size. One that was
 * ended exceeded its room.
 */
export const withUsed = <Result extends object>(
  result: Result,
  meter: AnswerMeter,
  room: AnswerRoom,
): Result & { readonly extensions: object } => ({
  ...result,
  extensions: {
    answer: meter.exceeded ? { values: room.values + 1, characters: 0 } : meter.usedOf(room),
  },
});

const counted = object({
  extensions: object({ answer: object({ values: number(), characters: number() }) }),
});

/** What a result that was sent so took; null when it is not in there. */
export const usedIn = (sent: unknown): AnswerRoom | null =>
  is(counted, sent) ? sent.extensions.answer : null;

const wholeRoom: AnswerRoom = { values: answerValues_max, characters: answerCharacters_max };

/** The refusal of an answer, worded like the other limits. */
const answerTooLarge = (): GraphQLError =>
  new GraphQLError(
    `The answer is larger than ${answerValues_max} values or ${answerCharacters_max} characters; request less at a time.`,
    {
      extensions: { code: 'query_too_complex', http: { status: 400 } },
    },
  );

/** Counts one answer. */
export class AnswerMeter {
  readonly refusal = answerTooLarge();
  /** Resolves when the answer is found too large. */
  readonly ended: Promise<void>;
  /**
   * The value of a field of an ended answer: nothing waits for it, and it avoids the cost of
   * thousands of field errors.
   */
  readonly never = new Promise<never>(() => {});
  #values: number;
  #characters: number;
  #exceeded = false;
  readonly #end: () => void;

  /** `room`: the remaining room of the answer; all of it by default. */
  constructor(room: AnswerRoom = wholeRoom) {
    this.#values = room.values;
    this.#characters = room.characters;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** The remaining room, never below 0. */
  get room(): AnswerRoom {
    return { values: Math.max(0, this.#values), characters: Math.max(0, this.#characters) };
  }

  /** What of a room is used. */
  usedOf(room: AnswerRoom): AnswerRoom {
    return {
      values: room.values - this.room.values,
      characters: room.characters - this.room.characters,
    };
  }

  /** Takes room. Throws the refusal when there is not so much. */
  take(values: number, characters: number): void {
    this.#values -= values;
    this.#characters -= characters;
    if (this.#values < 0 || this.#characters < 0) this.exceed();
  }

  /**
   * Counts what a scalar holds in addition to its own value: a text, a list of texts, or a map with
   * its keys.
   */
  takeContent(value: unknown): void {
    if (typeof value === 'string') this.take(0, value.length);
    else if (Array.isArray(value)) for (const item of value) this.#takeItem('', item);
    else if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value)) this.#takeItem(key, Reflect.get(value, key));
  }

  #takeItem(key: string, item: unknown): void {
    this.take(1, key.length);
    this.takeContent(item);
  }

  /** Ends the answer: it is too large, here or by another process's report. */
  exceed(): never {
    this.#exceeded = true;
    this.#end();
    throw this.refusal;
  }
}
