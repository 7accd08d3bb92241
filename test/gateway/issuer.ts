/** Starts the OIDC issuer of the tests and orders it about. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JWTPayload } from 'jose';

export type Order = { readonly id: number } & (
  | {
      readonly kind: 'sign';
      readonly alg: string;
      readonly claims: JWTPayload;
      readonly typ?: string;
    }
  | { readonly kind: 'rotate' }
  | { readonly kind: 'break'; readonly broken: boolean }
  | { readonly kind: 'name'; readonly issuer: string | null }
  | {
      readonly kind: 'login';
      readonly claims: JWTPayload;
      readonly secret: string;
      readonly rolesIn: 'access' | 'id';
    }
  | { readonly kind: 'count' }
);
export interface Reply {
  readonly id: number;
  readonly text: string;
}

export const audience = 'payment-service';
export const now_s = (): number => Math.floor(Date.now() / 1_000);

/** What a good token of a viewer of the platform says. */
export const viewer = (): JWTPayload => ({
  sub: 'person-1',
  aud: audience,
  iat: now_s(),
  exp: now_s() + 600,
  roles: ['viewer'],
  platform: true,
});

/** Starts an issuer with keys of its own; it ends with the test. */
export const startIssuer = async (t: Pick<TestContext, 'after'>) => {
  const child = fork(join(import.meta.dirname, 'issuer-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  const issuer = await new Promise<string>((resolve) => {
    waiting.set(0, resolve);
    child.on('message', ({ id, text }: Reply) => waiting.get(id)?.(text));
  });
  const order = (
    given: Order extends infer One ? (One extends Order ? Omit<One, 'id'> : never) : never,
  ): Promise<string> => {
    last += 1;
    const id = last;
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.set(id, resolve);
    child.send({ ...given, id });
    return promise;
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  };
  t.after(stop);
  return {
    issuer,
    sign: (claims: JWTPayload, alg = 'RS256') => order({ kind: 'sign', alg, claims }),
    /** New keys in place of the old ones. */
    rotate: () => order({ kind: 'rotate' }),
    break: (broken: boolean) => order({ kind: 'break', broken }),
    /** Names another issuer in the discovery document. */
    name: (named: string | null) => order({ kind: 'name', issuer: named }),
    /** The person of all later logins. */
    login: (claims: JWTPayload, rolesIn: 'access' | 'id', secret: string) =>
      order({ kind: 'login', claims, secret, rolesIn }),
    count: async (): Promise<{ discovery: number; keys: number; tokens: number }> =>
      JSON.parse(await order({ kind: 'count' })),
    stop,
  };
};
