/** A one-time link into the console: its secret is in the fragment, which no server ever sees. */
import { hash, randomBytes } from 'node:crypto';

/** SHA-256 in hex: what is kept of a link or of a session's cookie. */
export const secretDigest = (secret: string): string => hash('sha256', secret);

/** A secret of 256 random bits. */
export const makeSecret = (): string => randomBytes(32).toString('base64url');

/** Makes a link; only the digest is to be kept. */
export const makeConsoleLink = (
  publicUrl: string,
): { readonly url: string; readonly digest: string } => {
  const secret = makeSecret();
  return { url: `${publicUrl}/console/enter#${secret}`, digest: secretDigest(secret) };
};
