/**
 * Decision D-20: SHA-256 over method, path and the body's meaning. Client libraries lay the same
 * body out anew when they retry.
 */
import { hash } from 'node:crypto';

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
};

/**
 * Hex digest of a request whose body has been validated, which bounds its depth. No body means the
 * same as an empty one.
 */
export const fingerprint = (method: string, path: string, body: unknown): string =>
  hash('sha256', `${method} ${path}\n${canonical(body ?? {})}`);
