/**
 * An OIDC issuer as a process of its own: discovery document, keys, tokens for the process that started it,
 * and logins of the person that it was given. Orders come over the channel of `fork`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Order, Reply } from './issuer.ts';

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'RS512'] as const;
interface Pair {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

const pairs = new Map<string, Pair>();
const asked = { discovery: 0, keys: 0, tokens: 0 };
let named: string | null = null;
let generation = 0;

const makeKeys = async (): Promise<void> => {
  generation += 1;
  for (const alg of algorithms) {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `${alg}-${generation}`;
    pairs.set(alg, {
      kid,
      privateKey,
      jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    });
  }
};

const send = (response: ServerResponse, body: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Who logs in, and whether the roles stand in the access token or in the ID token. */
let person: Extract<Order, { kind: 'login' }> | null = null;
/** The logins that wait for their tokens, by code. */
const waiting = new Map<string, URLSearchParams>();

const authorize = (url: string, response: ServerResponse): void => {
  const asked = new URL(url, issuer).searchParams;
  const code = randomUUID();
  waiting.set(code, asked);
  const back = new URL(asked.get('redirect_uri') ?? '');
  back.searchParams.set('code', code);
  back.searchParams.set('state', asked.get('state') ?? '');
  response.writeHead(302, { location: back.href }).end();
};

/** A code counts once, with the verifier of its challenge and the client's secret. */
const giveTokens = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const sent = new URLSearchParams(await text(request));
  const asked = waiting.get(sent.get('code') ?? '');
  waiting.delete(sent.get('code') ?? '');
  const challenge = createHash('sha256')
    .update(sent.get('code_verifier') ?? '')
    .digest('base64url');
  const client = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64').toString();
  if (
    !asked ||
    !person ||
    asked.get('code_challenge') !== challenge ||
    decodeURIComponent(client) !== `${asked.get('client_id')}:${person.secret}`
  )
    return void response.writeHead(400).end('{"error":"invalid_grant"}');
  const now_s = Math.floor(Date.now() / 1_000);
  const times = { iat: now_s, exp: now_s + 60 };
  const { sub = '', ...claims } = person.claims;
  const own = { sub, aud: asked.get('client_id') ?? '', nonce: asked.get('nonce'), ...times };
  const inToken = person.rolesIn === 'access';
  send(response, {
    token_type: 'Bearer',
    access_token: inToken
      ? await sign({ id: 0, kind: 'sign', alg: 'RS256', claims: { sub, ...claims, ...times } })
      : 'opaque',
    id_token: await sign({
      id: 0,
      kind: 'sign',
      alg: 'RS256',
      claims: inToken ? own : { ...claims, ...own },
    }),
  });
};

let broken = false;
const server = createServer((request, response) => {
  if (broken) return void response.writeHead(500).end();
  if (request.url === '/.well-known/openid-configuration') {
    asked.discovery += 1;
    return send(response, {
      issuer: named ?? issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
    });
  }
  if (request.url?.startsWith('/authorize?')) return authorize(request.url, response);
  if (request.url === '/token') {
    asked.tokens += 1;
    return void giveTokens(request, response);
  }
  asked.keys += 1;
  return send(response, { keys: Array.from(pairs.values(), ({ jwk }) => jwk) });
});

await makeKeys();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

const sign = ({ alg, claims, typ }: Extract<Order, { kind: 'sign' }>): Promise<string> => {
  const pair = pairs.get(alg);
  if (!pair) throw new Error(`no key for ${alg}`);
  return new SignJWT({ iss: issuer, ...claims })
    .setProtectedHeader({ alg, kid: pair.kid, ...(typ ? { typ } : {}) })
    .sign(pair.privateKey);
};

const obey = async (order: Order): Promise<string> => {
  switch (order.kind) {
    case 'sign':
      return sign(order);
    case 'rotate':
      await makeKeys();
      return '';
    case 'break':
      broken = order.broken;
      return '';
    case 'name':
      named = order.issuer;
      return '';
    case 'login':
      person = order;
      return '';
    case 'count':
      return JSON.stringify(asked);
  }
};

const reply = (message: Reply): void => void process.send?.(message);
process.on(
  'message',
  (order: Order) => void obey(order).then((text) => reply({ id: order.id, text })),
);
process.once('disconnect', () => process.exit(0));
reply({ id: 0, text: issuer });
