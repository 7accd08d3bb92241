/**
 * `psp listen`: forwards webhook events to a local program. It reads the event log by id and keeps
 * how far it came, so that every event arrives at least once, whatever happens to it.
 */
import { randomBytes } from 'node:crypto';
import type { Command, Context } from './command.ts';
import { Failure } from './failure.ts';
import { followLog } from './follow-log.ts';
import { forward, type Forwarded } from './forward.ts';
import type { LoggedText } from './log-text.ts';
import { openPosition } from './position.ts';
import { changeFile, readFile } from './settings.ts';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** A moment: `2026-05-06T10:00:00Z`, `2026-05-06`, or so long ago as `90s`, `10m`, `2h`, `3d`. */
const readSince = (text: string, now: Date): Date => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const moment = count
    ? now.getTime() - Number(count) * (units[unit] ?? 0) * 1_000
    : Date.parse(text);
  if (Number.isNaN(moment))
    throw new Failure('usage', '--replay-since: expected a date, a time, or 10m, 2h, 3d');
  return new Date(moment);
};

const readAddress = (text: string | undefined): string => {
  if (text === undefined) throw new Failure('usage', 'usage: psp listen --forward-to <url>');
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
    const good = status !== null && status >= 200 && status < 300;
    const answer = status === null ? 'no answer' : String(status);
    const text = [
      output.dim(new Date().toISOString().slice(11, 19)),
      good ? output.good(answer) : output.bad(answer),
      event.padEnd(18),
      id,
      output.dim(`${took_ms} ms${attempt > 1 ? `, attempt ${attempt}` : ''}`),
    ].join('  ');
    output.result({ id, event, status, took_ms, attempt }, text);
  };

const run = async (context: Context): Promise<void> => {
  const { given, env, output, stopped, url } = context;
  const address = readAddress(given.text('forward-to'));
  const events = given.text('events');
  const replay = given.text('replay-since');
  const key = context.settings.apiKey?.slice(0, 'sk_test_000000'.length) ?? '';
  const position = openPosition(env, url, key, address, events ?? '');
  const kept = replay === undefined && !given.has('from-now') ? position.read() : null;
  const since = readSince(replay ?? kept?.since ?? new Date().toISOString(), new Date());
  const after = kept?.last ?? null;
  position.write({ last: after, since: since.toISOString() });
  const secret = secretOf(context);
  const client = context.client();
  output.remark(`forwarding to ${address}, signed with ${secret}`);
  if (kept) output.remark(`going on behind ${after ?? kept.since}; --from-now begins anew`);
  const following = {
    send: context.send(),
    client,
    after,
    since,
    events,
    stopped,
    remark: output.remark,
  };
  try {
    for await (const event of followLog(following)) {
      await forward(address, secret, event, { stopped, report: report(context, event) });
      if (stopped.aborted) return;
      position.write({ last: event.id, since: since.toISOString() });
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  }
};

/** The row of `psp listen`. */
export const listen: Command = {
  name: 'listen',
  says: 'forward webhook events to a local program, each at least once',
  options: {
    'forward-to': { says: 'where to; a port is one of this machine', value: 'url' },
    events: { says: 'only these, separated by commas', value: 'names' },
    'replay-since': { says: 'begin there: a date, a time, or 10m, 2h, 3d', value: 'moment' },
    'from-now': { says: 'begin now, and not where the last run ended' },
  },
  run,
};
