/**
 * Idempotency, one way for everything that creates. A key is unique per merchant and mode, its row
 * is written in the statement or the transaction of the effect, a replay returns the object as it
 * is now, and a call refused before anything was created leaves the key free.
 * An operation of several statements uses `createOnce`; a single statement that claims the key
 * itself uses `madeOnce`. An operation that then gets its answer from a bank or another subgraph does
 * so in `answerUnderKey`: repeated calls wait for that answer, too.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { rfc3339 } from '../../../schema/scalars.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Mode } from '../../rules/mode.ts';
import { sentJson } from './sql-file.ts';
import {
  asRow,
  inTransaction,
  isLockTimeout,
  run,
  type Runner,
  type Statement,
} from './statement.ts';
import { rememberTrace } from './subject-trace.ts';

/** What a caller sent to make a creation safe to repeat. */
export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: string;
  /** The request: the method, the path and the call's id, or the mutation. */
  readonly request: string;
  /** What the same request's fingerprint was with earlier keys, where one is keyed. */
  readonly earlierFingerprints?: readonly string[];
  /** Whether the call gets its answer only from `answerUnderKey`, after its transaction. */
  readonly asksLater: boolean;
}

/** How a mutation gets it. */
export type IdempotencyArgument =
  | {
      readonly key: string;
      readonly fingerprint?: string | null | undefined;
      readonly request?: string | null | undefined;
    }
  | null
  | undefined;

/** Whether a stored fingerprint belongs to the same request. */
export const isSameRequest = (
  stored: string,
  {
    fingerprint,
    earlierFingerprints = [],
  }: Pick<IdempotencyClaim, 'fingerprint' | 'earlierFingerprints'>,
): boolean => stored === fingerprint || earlierFingerprints.includes(stored);

export interface ClaimingCaller {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
}

export interface Created<Made> {
  readonly made: Made;
  /** Whether an earlier call with the same key made it. */
  readonly replayed: boolean;
}

const idempotencyKey_max_chars = 64;
/** A method and a path of ours. Nothing else is stored, because it is the caller's text. */
const requestForm = /^(POST) (\/v1\/public\/[a-z0-9/-]{1,80})(?: ([A-Za-z0-9._:-]{1,128}))?$/;
/** How long a call waits for an earlier one with the same key. */
export const claimPatience_ms = 5_000;
/** How long it waits for a lock at least, after it has waited for the earlier call. */
const rowPatience_ms = 1_000;
/** How often it checks whether the earlier call has its answer. */
const answerLook_ms = 100;
/**
 * How long a call counts as in progress, and how often it renews this: after a crash, repeated
 * calls continue before their timeout.
 */
const asking_ms = 4_000;
const askingAgain_ms = 1_000;
/** How long a batch waits for a locked row: its calls are then tried one by one. */
const batchPatience_ms = 100;

/**
 * Reads the argument of a mutation; without the caller's fingerprint, it is computed from the
 * input. Null without a key. `asksLater`: the operation answers by `answerUnderKey`.
 */
export const claimOf = (
  argument: IdempotencyArgument,
  operation: string,
  input: unknown,
  asksLater = false,
): IdempotencyClaim | Refusal | null => {
  if (!argument) return null;
  const { key } = argument;
  if (key.length > idempotencyKey_max_chars || !/^[\x20-\x7e]+$/.test(key)) {
    return refuse(
      'bad_request',
      `Idempotency-Key: expected 1 to ${idempotencyKey_max_chars} printable ASCII characters, got ${key.length} characters`,
    );
  }
  const meaning = (): string =>
    JSON.stringify([operation, input], (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
  return {
    key,
    fingerprint: argument.fingerprint ?? createHash('sha256').update(meaning()).digest('hex'),
    request: requestForm.exec(argument.request ?? '')?.[0] ?? operation,
    asksLater,
  };
};

/** SQL: until when a call that now gets its answer counts as in progress. */
const askingUntil = `clock_timestamp() + interval '${asking_ms} milliseconds'`;

/**
 * SQL: the advisory lock that every claim of a key takes before its row, until its transaction
 * ends. A batch detects by it, without waiting, that another call is about to claim the key.
 */
const keyLock = `hashtextextended('idempotency/' || $1::text || mode || key, 0)`;

/**
 * SQL: true when this transaction holds the key's lock. It waits up to a call's timeout and sets
 * that timeout for its own transaction, which saves a round trip. The remaining time is for the
 * row: on Citus a create may hold it with a lock on another machine.
 */
const waitForKey = `case when set_config('lock_timeout', '${claimPatience_ms}', true) is not null then
    case when pg_advisory_xact_lock(${keyLock}) is not null then
      set_config('lock_timeout', greatest(${rowPatience_ms}, ${claimPatience_ms} - 1000 * extract(epoch from clock_timestamp() - statement_timestamp()))::int::text, true) is not null end end`;

/** SQL: true; limits how long the transaction of a batch waits for a locked row. */
export const boundWait = `set_config('lock_timeout', '${batchPatience_ms}', true) is not null`;

/** SQL: true when this transaction holds the key's lock; it does not wait. */
const tryKey = `case when ${boundWait} then pg_try_advisory_xact_lock(${keyLock}) end`;

/** A creation of a call; those claimed together are of one merchant and may be of several shops. */
export interface CallClaim {
  readonly caller: ClaimingCaller;
  /** Null: no key was sent. */
  readonly claim: IdempotencyClaim | null;
  readonly resourceId: string;
  readonly at: Temporal.Instant;
}

// In the order given: of two equal batches the second waits at its first item, holding nothing that
// the first one needs.
const claimIf = (name: string, isHeld: string): Statement => ({
  name,
  text: `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at, request, asking_until)
    select $1::uuid, mode, key, fingerprint, shop_id, resource_id, at, request, case when asks_later then ${askingUntil} end
    from rows from (jsonb_to_recordset($2::jsonb) as (mode text, key text, fingerprint text, shop_id uuid, resource_id uuid, at timestamptz, request text, asks_later boolean))
      with ordinality as sent (mode, key, fingerprint, shop_id, resource_id, at, request, asks_later, place)
    where ${isHeld} order by place on conflict do nothing returning key, resource_id as "resourceId"`,
});

/** Claims keys, waiting for earlier calls, or without waiting. */
export const claiming = {
  waiting: claimIf('idempotency.claim', waitForKey),
  atOnce: claimIf('idempotency.try', tryKey),
} as const;

/** Claims the keys of calls until the transaction ends. Returns those that were free. */
export const claimKeys = async (
  client: Runner,
  statement: Statement,
  calls: readonly CallClaim[],
): Promise<readonly { readonly key: string; readonly resourceId: string }[]> => {
  const rows = calls.flatMap(({ caller: { mode, shopId }, claim, resourceId, at }) =>
    claim ? [asRow({ ...claim, mode, shopId, resourceId, at })] : [],
  );
  const [first] = calls;
  return first && rows.length > 0
    ? run(client, statement, [first.caller.merchantId, sentJson(rows)])
    : [];
};

const find: Statement = {
  name: 'idempotency.find',
  text: `select fingerprint, shop_id as "shopId", key, resource_id as "resourceId", request, created_at as at, coalesce(asking_until > clock_timestamp(), false) as "isAsking"
    from idempotency_key where merchant_id = $1 and mode = $2 and key = any($3)`,
};

interface FirstUse {
  readonly key: string;
  readonly fingerprint: string;
  readonly shopId: string;
  readonly resourceId: string;
  readonly request: string;
  readonly at: Temporal.Instant;
  /** Whether its call is still getting its answer. */
  readonly isAsking: boolean;
}

/** What keys were first used for. */
export const findKeys = (
  runner: Runner,
  { merchantId, mode }: ClaimingCaller,
  keys: readonly string[],
): Promise<FirstUse[]> => run<FirstUse>(runner, find, [merchantId, mode, keys]);

/** What a key was first used for, when it was not for this. */
export const conflictWith = ({
  request,
  at,
}: {
  readonly request: string | null;
  readonly at: Temporal.Instant;
}): Refusal => {
  const [, method, path, requestId = null] = requestForm.exec(request ?? '') ?? [];
  const first = method !== undefined && path !== undefined ? { method, path, requestId } : null;
  const asked = first ? `${first.method} ${first.path}` : request;
  return refuse(
    'idempotent_conflict',
    `this Idempotency-Key was used with a different request: ${asked ?? 'one'} at ${rfc3339(at)}`,
    request === null ? null : { ...(first ?? ofGraph), at },
  );
};

/** A mutation's name is no address: the graph has one for all. */
const ofGraph = { method: 'POST', path: '/graphql', requestId: null };

const inProgress = refuse(
  'idempotent_in_progress',
  'an earlier call with this Idempotency-Key is still running',
);

/**
 * What an earlier call made, once it has its answer; null when the key is unclaimed or was released
 * meanwhile. Refuses with `idempotent_in_progress` when the call is still in progress at
 * `until_ms`, by performance.now().
 */
const findEarlier = async (
  runner: Runner,
  caller: ClaimingCaller,
  claim: IdempotencyClaim,
  until_ms: number,
): Promise<FirstUse | Refusal | null> => {
  for (;;) {
    const [row] = await findKeys(runner, caller, [claim.key]);
    if (!row) return null;
    if (!isSameRequest(row.fingerprint, claim) || row.shopId !== caller.shopId)
      return conflictWith(row);
    if (!row.isAsking) return row;
    if (performance.now() > until_ms) return inProgress;
    await delay(answerLook_ms);
  }
};

/** A creation under a key, or under none. */
interface Creation<Made extends object> extends Pick<CallClaim, 'caller' | 'claim'> {
  /**
   * Reads what an earlier call made, by its id; null when there is no such thing, since the key was
   * used for something else.
   */
  readonly find: (resourceId: string) => Promise<Made | null>;
}

/**
 * Creates something, or returns what an earlier call with the same key created. `make` claims the
 * key and creates the object in one transaction, and returns null when it created nothing. Null:
 * neither this call nor an earlier one created anything. Refuses as `make` does, with
 * `idempotent_conflict` when the key was used for something else, and with `idempotent_in_progress`
 * when the earlier call is still in progress after five seconds.
 */
export const madeOnce = async <Made extends object>(
  runner: Runner,
  { caller, claim, find: findMade }: Creation<Made>,
  make: () => Promise<Made | Refusal | null>,
): Promise<Created<Made> | Refusal | null> => {
  const until_ms = performance.now() + claimPatience_ms;
  let made: Made | Refusal | null;
  try {
    made = await make();
  } catch (error) {
    if (claim && isLockTimeout(error)) return inProgress;
    throw error;
  }
  if (made) return isRefusal(made) ? made : { made, replayed: false };
  const earlier = claim && (await findEarlier(runner, caller, claim, until_ms));
  if (!earlier || isRefusal(earlier)) return earlier;
  const found = await findMade(earlier.resourceId);
  return found ? { made: found, replayed: true } : conflictWith(earlier);
};

/**
 * The same for an operation of several statements: claims the key for the id `resourceId`, then
 * runs `make` in the same transaction; a refusal rolls it back. With a key, `make` waits for any
 * lock at most five seconds.
 */
export const createOnce = async <Made extends object>(
  pool: pg.Pool,
  creation: Creation<Made> & CallClaim,
  make: (client: pg.PoolClient) => Promise<Made | Refusal>,
): Promise<Created<Made> | Refusal> => {
  const { caller, claim, resourceId } = creation;
  const claimAndMake = async (client: pg.PoolClient): Promise<Made | Refusal | null> => {
    const free = await claimKeys(client, claiming.waiting, [creation]);
    if (claim && free.length === 0) return null;
    const made = await make(client);
    if (!isRefusal(made))
      await rememberTrace(client, { merchantId: caller.merchantId, subjectId: resourceId });
    return made;
  };
  // What was refused leaves nothing behind, its claim included.
  const isMade = (made: Made | Refusal | null): boolean => made !== null && !isRefusal(made);
  const until_ms = performance.now() + claimPatience_ms;
  for (;;) {
    const created = await madeOnce(pool, creation, () => inTransaction(pool, claimAndMake, isMade));
    if (created) return created;
    // The key was taken a moment ago and is free again: its call was refused, or it expired.
    if (performance.now() > until_ms) return inProgress;
  }
};

const release: Statement = {
  name: 'idempotency.release',
  text: 'delete from idempotency_key where merchant_id = $1 and mode = $2 and key = $3 and resource_id = $4',
};

// Without `$5`, in milliseconds, the call has its answer.
const askOn: Statement = {
  name: 'idempotency.ask_on',
  text: `update idempotency_key set asking_until = clock_timestamp() + $5::int * interval '1 millisecond'
    where merchant_id = $1 and mode = $2 and key = $3 and resource_id = $4`,
};

/** A claim made for `resourceId`: another call may have taken the key since. */
type MadeClaim = Omit<CallClaim, 'at'>;

const change = async (
  runner: Runner,
  statement: Statement,
  { caller: { merchantId, mode }, claim, resourceId }: MadeClaim,
  ...values: readonly unknown[]
): Promise<void> => {
  if (claim) await run(runner, statement, [merchantId, mode, claim.key, resourceId, ...values]);
};

/** Makes repeated calls wait for an answer that is requested again, with `answerUnderKey`. */
export const claimAnswer = (runner: Runner, made: MadeClaim): Promise<void> =>
  change(runner, askOn, made, asking_ms);

/**
 * Gets the answer of a call from a bank or another subgraph after its claim and its effect here are
 * committed. Repeated calls wait for it. A refusal means that the call had no effect, and its key
 * is free again.
 */
export const answerUnderKey = async <Answer extends object>(
  runner: Runner,
  made: MadeClaim,
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  if (!made.claim) return ask();
  const askingOn = setInterval(() => {
    // Repeated calls then wait for less and find the operation as it is.
    claimAnswer(runner, made).catch(() => {});
  }, askingAgain_ms).unref();
  let isFree = false;
  try {
    const answer = await ask();
    isFree = isRefusal(answer);
    return answer;
  } finally {
    clearInterval(askingOn);
    await (isFree ? change(runner, release, made) : change(runner, askOn, made, null));
  }
};
