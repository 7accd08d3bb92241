/** A webhook as a command, and what verifies it, by how its endpoint signs. */
import type { DeliveryQuery } from '../../../schema/generated/console.ts';

type Request = NonNullable<NonNullable<DeliveryQuery['webhookDelivery']>['request']>;
type Signature = Request['signature'];

/** A text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const hex = (text: string): string =>
  `$(printf %s "${text}" | openssl dgst -sha256 -hmac "$SECRET" -hex | sed 's/.* //')`;

/** The lines that make the signature, and the headers that carry it. */
const signing = (
  signature: Signature,
  id: string,
): readonly [lines: string[], headers: string[]] => {
  switch (signature) {
    case 'legacy':
      return [[], [`X-PSP-Signature: sha256=${hex('$BODY')}`]];
    case 'standard':
      return [
        [
          'T=$(date +%s)',
          `S=$(printf %s "${id}.$T.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -binary | base64)`,
        ],
        [`webhook-id: ${id}`, 'webhook-timestamp: $T', 'webhook-signature: v1,$S'],
      ];
    case 'stripe':
    case 'v2':
      return [
        [
          'T=$(date +%s)',
          `V1=${hex(signature === 'v2' ? '$BODY' : '$T.$BODY')}`,
          `V2=${hex('$T.$BODY')}`,
        ],
        ['X-PSP-Signature: t=$T,v1=$V1,v2=$V2', 'X-PSP-Timestamp: $T'],
      ];
  }
};

/** A command that posts the same bytes with a fresh signature. */
export const curlOf = ({ body, headers, signature }: Request, url: string): string => {
  const id = headers.find(({ name }) => name === 'X-PSP-Event-Id')?.value ?? '';
  const [lines, signed] = signing(signature, id);
  const fixed = headers.filter(({ value }) => !value.includes('<') && value !== id);
  return [
    "SECRET='whs_...'",
    `BODY=${quoted(body)}`,
    ...lines,
    `curl -i ${quoted(url)} \\`,
    ...fixed.map(({ name, value }) => `  -H ${quoted(`${name}: ${value}`)} \\`),
    `  -H ${quoted(`X-PSP-Event-Id: ${id}`)} \\`,
    ...signed.map((header) => `  -H "${header}" \\`),
    '  --data-binary "$BODY"',
  ].join('\n');
};

const ours = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came; header: X-PSP-Signature
const verify = (rawBody, header, secret) => {
  const t = /t=(\\d+)/.exec(header)?.[1] ?? '';
  const expected = createHmac('sha256', secret).update(t + '.').update(rawBody).digest();
  return Math.abs(Date.now() / 1000 - Number(t)) <= 300 &&
    [...header.matchAll(/v2=([0-9a-f]{64})/g)].some(([, given]) =>
      timingSafeEqual(Buffer.from(given, 'hex'), expected));
};`;
const legacy = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came; header: X-PSP-Signature. It has no time: remember the ids.
const verify = (rawBody, header, secret) => {
  const given = /^sha256=([0-9a-f]{64})$/.exec(header)?.[1] ?? '';
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  return given !== '' && timingSafeEqual(Buffer.from(given, 'hex'), expected);
};`;
const standard = `import { Webhook } from 'standardwebhooks';

// rawBody: the text as it came; secret: whsec_..., throws when it is not genuine
const verify = (rawBody, headers, secret) => new Webhook(secret).verify(rawBody, headers);`;

/** The code for Node. */
export const verifierOf = (signature: Signature): string =>
  signature === 'legacy' ? legacy : signature === 'standard' ? standard : ours;
