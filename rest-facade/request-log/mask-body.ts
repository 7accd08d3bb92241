/**
 * Masks the bodies of the request log, which has no personal data and no secrets. A value is shown
 * if the OpenAPI description has its field and `free-texts` does not classify it as personal; any
 * other value is `***`.
 */
import { erasedTexts } from '../../subgraphs/kernel/service/free-texts.ts';
import { holdsCardNumber } from '../../subgraphs/kernel/rules/card-in-text.ts';
import { repeatable } from '../../subgraphs/kernel/rules/repeatable.ts';
import { isUuid } from '../../subgraphs/kernel/rules/uuid.ts';

/** So much of a body is kept. */
export const bodyKept_max_bytes = 16_384;
const masked = '***';

/** Personal data that no text of the graph holds, and addresses that let their reader pay. */
const otherSecrets = [
  'phone',
  'customer_phone',
  'customer_id',
  'email',
  'customer_email',
  'full_name',
  'inn',
  'card_pan',
  'card_mask',
  'account_number',
  'recipient_card_mask',
  'customer_card_mask',
  'customer_phone_mask',
  'payment_url',
  'pay_url',
  'secret',
];

/** The names of fields whose values are never kept. */
const secrets: ReadonlySet<string> = new Set([
  ...otherSecrets,
  ...[...erasedTexts.values()]
    .flat()
    .map((column) => column.replace(/^recipient_name$/, 'full_name')),
]);

/** Texts of ours with long numbers in them. */
const ownForm = /^(?:evt_[0-9a-f-]{36}|ord_\d{19}|P-\d+|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?)$/;
/** Fields with long numbers that are nobody's: they are masked when they may be a card's. */
const plainNumbers: ReadonlySet<string> = new Set([
  'bank_id',
  'bik',
  'member_id',
  'amount',
  'price',
]);
/** Something like a phone or an e-mail address. */
const personal = /\d(?:[ ()-]?\d){6}|[^\s@]@[^\s@]/;
/** The parts of a message that repeat input: quoted texts and numbers. */
const repeated = /"[^"]*"|\d(?:[ ()-]?\d){6,}/g;

const isShown = (name: string, text: string): boolean => {
  if (plainNumbers.has(name)) return !holdsCardNumber(text);
  return isUuid(text) || ownForm.test(text) || (repeatable(text) && !personal.test(text));
};

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

const maskText = (name: string, text: string): string => {
  if (name === 'message') return text.replaceAll(repeated, masked);
  // The query of an address belongs to the merchant and may be personal.
  const shown = isAddress(text) ? (text.split(/[?#]/)[0] ?? '') : text;
  return isShown(name, shown) ? shown : masked;
};

/**
 * Masks a value: `known` are the names that the contract has. The value of a field that nobody
 * knows, or that is personal, is not looked at; of metadata only the names stay.
 */
const maskValue = (name: string, value: unknown, known: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskValue(name, item, known));
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([field, held]) => [
      plainName.test(field) ? field : masked,
      secrets.has(name) || !known.has(field) ? masked : maskValue(field, held, known),
    ]);
    return Object.fromEntries(fields);
  }
  if (value === null || typeof value === 'boolean') return value;
  if (secrets.has(name)) return masked;
  if (typeof value === 'string') return maskText(name, value);
  return typeof value === 'number' && isShown(name, String(value)) ? value : masked;
};

const plainName = /^[A-Za-z_.-]{1,64}$/;

/** The first bytes of a text, cut between characters. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text);
  return bytes.length <= bodyKept_max_bytes
    ? text
    : bytes
        .subarray(0, bodyKept_max_bytes)
        .toString('utf8')
        .replace(/\uFFFD+$/u, '');
};

/** A body as it is kept; null without one. What is no JSON is not kept: nothing of it is known. */
export const maskBody = (body: string, known: ReadonlySet<string>): string | null => {
  if (body === '') return null;
  try {
    return cut(JSON.stringify(maskValue('', JSON.parse(body), known)));
  } catch {
    return `(${Buffer.byteLength(body)} bytes that are not JSON)`;
  }
};
