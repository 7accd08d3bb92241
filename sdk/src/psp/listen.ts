/**
 * `psp listen`: prints webhook events, or forwards them to a local program. It reads the event log
 * by id and keeps how far it came, so that every event arrives at least once, whatever happens to
 * it. An event that is not answered is tried again beside those that follow it.
 */
import { randomBytes, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type Context, row } from './command.ts';
import { Failure } from './failure.ts';
import { eventsOption, readEventNames } from './shared-options.ts';
import { followLog, readNewestId, type LoggedText, printEvent } from './follow-log.ts';
import {
  changeFile,
  readFile,
  settingsFolder,
  writePrivate,
  type Environment,
} from './settings.ts';
import { wait } from '../transport.ts';
import { signWebhook } from '../webhooks.ts';
import { version } from '../schemas.ts';

/** The receiver's answer; null while there is none. */
interface Forwarded {
  readonly status: number | null;
  readonly took_ms: number;
  readonly attempt: number;
}

/** The same deadline as the service's deliveries. */
const timeout_ms = 15_000;
/** How often an answer other than 2xx is retried. */
const refusals_max = 3;
const longest_ms = 5_000;

const post = async (
  url: string,
  secret: string,
  event: LoggedText,
  stopped: AbortSignal,
): Promise<number | null> => {
  const signature = await signWebhook(event.text, secret);
  const headers = {
    'content-type': 'application/json',
    'user-agent': `psp-listen/${version}`,
    'x-psp-event-id': event.id,
    'x-psp-signature': signature,
    'x-psp-timestamp': /^t=(\d+)/.exec(signature)?.[1] ?? '',
  };
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeout_ms), stopped]);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: event.text,
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
};

const isTaken = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/**
 * Sends an event until it is accepted: forever without an answer, since the receiver may be
 * restarting, and three times when the answer is not 2xx. `report` receives each answer, and the
 * first attempt without one. False when it was stopped before.
 */
const forward = async (
  url: string,
  secret: string,
  event: LoggedText,
  {
    stopped,
    report,
  }: { readonly stopped: AbortSignal; readonly report: (forwarded: Forwarded) => void },
): Promise<boolean> => {
  let refusals = 0;
  for (let attempt = 1; !stopped.aborted; attempt++) {
    const began_ms = performance.now();
    const status = await post(url, secret, event, stopped);
    if (stopped.aborted) return false;
    if (status !== null || attempt === 1)
      report({ status, took_ms: Math.round(performance.now() - began_ms), attempt });
    if (isTaken(status)) return true;
    if (status !== null && ++refusals >= refusals_max) return true;
    await wait(Math.min(longest_ms, 250 * 2 ** Math.min(attempt, 6)), stopped).catch(() => {});
  }
  return false;
};

/* Where `psp listen` is in the event log: kept on disk, so that it continues there after any end. */

/** The last event that was dealt with, or when listening began before the first one. */
interface Place {
  readonly last: string | null;
  /** Null where listening began with an empty log. */
  readonly since: string | null;
}

/** Opens the position of a key, an address and a choice of events. Nothing of the key is kept. */
const openPosition = (env: Environment, ...of: readonly string[]) => {
  const name = createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 16);
  const path = join(settingsFolder(env), `listen-${name}.json`);
  return {
    read: (): Place | null => {
      try {
        const { last, since } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Place>;
        return since === undefined ? null : { last: last ?? null, since };
      } catch {
        return null;
      }
    },
    write: (place: Place): void => writePrivate(path, `${JSON.stringify(place)}\n`),
  };
};

type Position = ReturnType<typeof openPosition>;

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** A moment: `2026-05-06T10:00:00Z`, `2026-05-06`, or so long ago as `90s`, `10m`, `2h`, `3d`. */
const readSince = (text: string, now: Date): Date => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const moment = count
    ? now.getTime() - Number(count) * (units[unit] ?? 0) * 1_000
    : Date.parse(text);
  if (Number.isNaN(moment) || Math.abs(moment) > 8.64e15)
    throw new Failure('usage', '--replay-since: expected a date, a time, or 10m, 2h, 3d');
  return new Date(moment);
};

const readAddress = (text: string): string => {
  const address = /^\d+$/.test(text) ? `http://127.0.0.1:${text}/` : text;
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw new Failure('usage', '--forward-to: expected an http address or a port');
  return address;
};

/** The secret that forwarded events are signed with: the same at every start. */
const secretOf = ({ env }: Context): string => {
  const { listenSecret } = readFile(env);
  if (listenSecret !== undefined) return listenSecret;
  const made = `whs_${randomBytes(24).toString('base64url').replaceAll(/[-_]/g, 'x')}`;
  changeFile(env, { listenSecret: made });
  return made;
};

const report =
  ({ output }: Context, { id, event }: LoggedText) =>
  ({ status, took_ms, attempt }: Forwarded): void => {
    const answer = status === null ? 'no answer' : String(status);
    const text = row(
      output.dim(new Date().toISOString().slice(11, 19)),
      isTaken(status) ? output.good(answer) : output.bad(answer),
      event.padEnd(18),
      id,
      output.dim(`${took_ms} ms${attempt > 1 ? `, attempt ${attempt}` : ''}`),
    );
    output.result({ id, event, status, took_ms, attempt }, text);
  };

/** Where it begins: where it was asked to, where the last run ended, or with what comes next. */
const beginningOf = async (
  { given, send, output }: Context,
  position: Position,
): Promise<{ readonly after: string | null; readonly since: Date | null }> => {
  const replay = given.text('replay-since');
  if (replay !== undefined) return { after: null, since: readSince(replay, new Date()) };
  const kept = given.has('from-now') ? null : position.read();
  if (!kept) return { after: await readNewestId(send()), since: null };
  const place = kept.last ?? kept.since ?? 'the beginning';
  output.remark(`going on behind ${place}; --from-now begins anew`);
  return { after: kept.last, since: kept.since === null ? null : new Date(kept.since) };
};

/** So many events may wait for an answer while the next ones are sent. */
const unanswered_max = 100;

/** Forwards events in their order; `keep` is called with the last of those behind which all are done. */
const openForwarding = (
  context: Context,
  address: string,
  secret: string,
  keep: (id: string) => void,
) => {
  const { stopped } = context;
  const sent: { readonly id: string; isDone: boolean; ended: Promise<void> }[] = [];
  const settle = (): void => {
    let last: string | undefined;
    while (sent[0]?.isDone) last = sent.shift()?.id;
    if (last !== undefined) keep(last);
  };
  return async (event: LoggedText): Promise<void> => {
    const waiting = sent.filter(({ isDone }) => !isDone);
    if (waiting.length >= unanswered_max) await Promise.race(waiting.map(({ ended }) => ended));
    const one = { id: event.id, isDone: false, ended: Promise.resolve() };
    sent.push(one);
    await new Promise<void>((goOn, fail) => {
      const print = report(context, event);
      const send = async (): Promise<void> => {
        one.isDone = await forward(address, secret, event, {
          stopped,
          report: (forwarded) => {
            print(forwarded);
            if (forwarded.status === null) goOn();
          },
        });
        if (one.isDone) settle();
      };
      one.ended = send().then(goOn, fail);
    });
  };
};

const run = async (context: Context): Promise<void> => {
  const { given, env, output, stopped, url } = context;
  if (given.has('print-secret')) {
    const secret = secretOf(context);
    output.result({ secret }, secret);
    return;
  }
  const target = given.text('forward-to');
  const address = target === undefined ? null : readAddress(target);
  const events = readEventNames(given.all('events'));
  const key = context.settings.apiKey?.slice(0, 'sk_test_000000'.length) ?? '';
  const position = openPosition(env, url, key, address ?? 'printed', events ?? '');
  const { after, since } = await beginningOf(context, position);
  const keep = (last: string | null): void =>
    position.write({ last, since: since?.toISOString() ?? null });
  keep(after);
  const secret = secretOf(context);
  if (address !== null) output.remark(`forwarding to ${address}, signed with ${secret}`);
  else output.remark('printing events; --forward-to <url> sends them to a program of yours');
  const send = address === null ? null : openForwarding(context, address, secret, keep);
  const following = { send: context.send(), after, since, events, stopped, remark: output.remark };
  try {
    for await (const event of followLog(following)) {
      if (send) await send(event);
      else {
        printEvent(output, event);
        keep(event.id);
      }
      if (stopped.aborted) return;
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  }
};

export const listen: Command = {
  name: 'listen',
  says: 'print webhook events, or forward them to a local program, each at least once',
  options: {
    'forward-to': {
      says: 'where to; a port is one of this machine. Without it they are printed',
      value: 'url',
    },
    events: eventsOption,
    'replay-since': { says: 'begin there: a date, a time, or 10m, 2h, 3d', value: 'moment' },
    'from-now': { says: 'begin now, and not where the last run ended' },
    'print-secret': { says: 'print the secret that it signs with, and end' },
  },
  run,
};
