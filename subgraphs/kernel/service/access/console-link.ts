/**
 * A one-time link into the console: its secret is in the fragment, which browsers never send to a
 * server.
 */
import { hash, randomBytes } from 'node:crypto';

/** SHA-256 in hex: the stored form of a link or of a session's cookie. */
export const secretDigest = (secret: string): string => hash('sha256', secret);

/** A secret of 256 random bits. */
export const makeSecret = (): string => randomBytes(32).toString('base64url');

/** Makes a link; store only the digest. */
export const makeConsoleLink = (
  publicUrl: string,
): { readonly url: string; readonly digest: string } => {
  const secret = makeSecret();
  return { url: `${publicUrl}/console/enter#${secret}`, digest: secretDigest(secret) };
};
