/** Whom a one-time link into the console lets in. */
import { hash, randomBytes } from 'node:crypto';
import { isUuid } from '../../rules/ids.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { roles, type OperatorPrincipal } from './principal.ts';

/*
 * A one-time link into the console: its secret is in the fragment, which browsers never send to a
 * server.
 */

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

/** A person as the audit log, drafts, sessions and kept views name them. */
export type LinkPerson = Omit<OperatorPrincipal, 'kind'>;

/** The person behind a link without a name: an administrator of all merchants. */
export const unnamedPerson: LinkPerson = {
  subject: 'console-link',
  role: 'admin',
  merchantId: null,
};

/** What the requester of a link states about the person; absent: nothing. */
export interface LinkWords {
  readonly person?: string | undefined;
  readonly role?: string | undefined;
  readonly merchant?: string | undefined;
}

const name_max = 64;
// One person must not have two spellings: otherwise they could approve their own request.
const nameForm = /^[a-z0-9][a-z0-9._@+-]*$/;
/** Names in the audit log for actors that are not people. */
const takenNames = [unnamedPerson.subject, 'operator-token'];

/**
 * The person of a link, null without a name; refuses with one sentence. The subgraph checks whether
 * the merchant exists.
 */
export const readLinkPerson = ({
  person,
  role,
  merchant,
}: LinkWords): LinkPerson | null | Refusal => {
  if (person === undefined)
    return role === undefined && merchant === undefined
      ? null
      : refuse('bad_request', 'person: required with role or merchant');
  if (person.length > name_max || !nameForm.test(person))
    return refuse(
      'bad_request',
      `person: expected up to ${name_max} of a-z, 0-9 and . _ @ + -, such as anna or anna@shop.example`,
    );
  if (takenNames.includes(person))
    return refuse('bad_request', `person: ${person} is reserved and cannot name a person`);
  const known = roles.find((one) => one === role);
  if (!known) return refuse('bad_request', `role: expected one of ${roles.join(', ')}`);
  if (merchant !== undefined && !isUuid(merchant))
    return refuse('bad_request', "merchant: expected the merchant's id");
  return { subject: person, role: known, merchantId: merchant?.toLowerCase() ?? null };
};
