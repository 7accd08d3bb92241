/**
 * An OIDC issuer as a process of its own: discovery document, keys, and tokens for whoever started
 * it. Orders come over the channel of `fork`.
 */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Order, Reply } from './issuer.ts';

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'RS512'] as const;
interface Pair {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

const pairs = new Map<string, Pair>();
const asked = { discovery: 0, keys: 0 };
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

let broken = false;
const server = createServer((request, response) => {
  if (broken) return void response.writeHead(500).end();
  if (request.url === '/.well-known/openid-configuration') {
    asked.discovery += 1;
    return send(response, { issuer: named ?? issuer, jwks_uri: `${issuer}/keys` });
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
