/** `npm run console:link`: asks the service that runs here for a one-time link into its console. */
import { parseArgs } from 'node:util';
import { request } from 'undici';
import * as v from 'valibot';
import type { LinkWords } from '../../subgraphs/platform/access/link-person.ts';

const made = v.object({ url: v.string(), expires_at: v.string(), person: v.nullish(v.string()) });
const refusal = v.object({ error: v.object({ message: v.string() }) });
/** A busy machine takes its time; that nothing listens is known at once. */
const patience_ms = 30_000;

/** Where the service listens, and the token of its operator. */
interface LinkAsker {
  readonly host: string;
  readonly port: number;
  readonly operatorToken: string | null;
}

const text = { type: 'string' } as const;
const options = { person: text, role: text, merchant: text };

/** The person that the command's words name. Throws a message for the user. */
export const readLinkWords = (words: readonly string[]): LinkWords => {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch {
    throw new Error(
      `npm run console:link takes -- --person <name> --role <role> [--merchant <id>], not: ${words.join(' ')}`,
    );
  }
};

/**
 * Requests a new link, for the named person or for an unnamed administrator. Rejects with a message
 * for the user.
 */
export const askLink = async (
  { host, port, operatorToken }: LinkAsker,
  words: LinkWords,
): Promise<string> => {
  if (operatorToken === null)
    throw new Error('OPERATOR_TOKEN is required: it is the proof that you may make a link');
  const local = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  const address = `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
  const answer = await request(`${address}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(words),
    headersTimeout: patience_ms,
    bodyTimeout: patience_ms,
  }).catch(() => null);
  if (!answer) throw new Error(`nothing answers at ${address}: is the service running?`);
  const body: unknown = await answer.body.json().catch(() => null);
  if (v.is(refusal, body)) throw new Error(body.error.message);
  if (answer.statusCode !== 201 || !v.is(made, body))
    throw new Error(`${address} answered ${answer.statusCode}`);
  if ((body.person ?? undefined) !== words.person)
    throw new Error('the running service is older and cannot make links for people');
  return body.url;
};
