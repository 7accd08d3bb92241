/** Whom a one-time link into the console lets in. */
import { isUuid } from '../../rules/uuid.ts';
import { refused, type Refused } from '../../rules/refusal.ts';
import { roles, type OperatorPrincipal } from './principal.ts';

/** A person as the audit log, drafts, sessions and kept views name it. */
export type LinkPerson = Omit<OperatorPrincipal, 'kind'>;

/** Who enters by a link that names nobody: an administrator of all merchants. */
export const unnamedPerson: LinkPerson = {
  subject: 'console-link',
  role: 'admin',
  merchantId: null,
};

/** What whoever asks for a link says of the person; absent: nothing. */
export interface LinkWords {
  readonly person?: string | undefined;
  readonly role?: string | undefined;
  readonly merchant?: string | undefined;
}

const name_max = 64;
// One person must not come under two spellings: what is approved by another would be by the same.
const nameForm = /^[a-z0-9][a-z0-9._@+-]*$/;
/** Names that the audit log gives to who is no person. */
const takenNames = [unnamedPerson.subject, 'operator-token'];

/**
 * The person whom a link is for, null when nobody is named; refuses with one sentence. Whether the
 * merchant exists is for the subgraph to say.
 */
export const readLinkPerson = ({
  person,
  role,
  merchant,
}: LinkWords): LinkPerson | null | Refused => {
  if (person === undefined)
    return role === undefined && merchant === undefined
      ? null
      : refused('bad_request', 'person: required with role or merchant');
  if (person.length > name_max || !nameForm.test(person))
    return refused(
      'bad_request',
      `person: expected up to ${name_max} of a-z, 0-9 and . _ @ + -, such as anna or anna@shop.example`,
    );
  if (takenNames.includes(person))
    return refused('bad_request', `person: ${person} is reserved and cannot name a person`);
  const known = roles.find((one) => one === role);
  if (!known) return refused('bad_request', `role: expected one of ${roles.join(', ')}`);
  if (merchant !== undefined && !isUuid(merchant))
    return refused('bad_request', "merchant: expected the merchant's id");
  return { subject: person, role: known, merchantId: merchant?.toLowerCase() ?? null };
};
