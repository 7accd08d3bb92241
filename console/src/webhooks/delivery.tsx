/** One webhook: its attempts, its content, resending, reproducing it by hand. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { duration, prettyJson } from '../format.ts';
import { Chips } from '../parts/filters.tsx';
import { ActButton, useRun } from '../parts/act-form.tsx';
import { Drawer } from '../parts/modal.tsx';
import { toldBy, send } from '../parts/outcome.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { Status, tones, CopyBlock, Id, Moment } from '../parts/texts.tsx';
import { reloadScreen } from '../graph/live.ts';
import { useAsk } from '../parts/use-ask.ts';
import { sharedWords } from '../words/shared.ts';
import { webhookWords as own } from '../words/webhooks.ts';
import { words } from '../words/words.ts';

type Row = NonNullable<graph.DeliveryQuery['webhookDelivery']>;
type Request = NonNullable<Row['request']>;

const Attempts = ({ delivery }: { readonly delivery: Row }) => {
  if (delivery.attemptLog.length === 0) return <p>{words.delivery.noAttempts}</p>;
  return (
    <ol className="timeline">
      {delivery.attemptLog.map(({ number, at, durationMs, status, fault, responseHead }) => (
        <li key={number} data-tone={status !== null && status < 300 ? 'good' : 'bad'}>
          <div className="line">
            <span>
              {words.payment.attempt(
                number,
                status === null
                  ? fault === null
                    ? words.payment.noAnswer
                    : own.faults[fault]
                  : String(status),
                duration(durationMs),
              )}
            </span>
            <Moment at={at} />
          </div>
          {responseHead !== null && responseHead !== '' && (
            <details className="raw">
              <summary>{words.payment.raw}</summary>
              <pre tabIndex={0}>{responseHead}</pre>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
};

const Body = ({ body }: { readonly body: string }) => {
  const [isRaw, setRaw] = useState(false);
  return (
    <section>
      <h2>{own.body}</h2>
      <Chips
        label={own.body}
        chips={[
          [own.pretty, !isRaw, () => setRaw(false)],
          [own.bytes, isRaw, () => setRaw(true)],
        ]}
      />
      <CopyBlock text={isRaw ? body : prettyJson(body)} />
    </section>
  );
};

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
const curlOf = ({ body, headers, signature }: Request, url: string): string => {
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

const verifierOf = (signature: Signature): string =>
  signature === 'legacy' ? legacy : signature === 'standard' ? standard : ours;

const Reproduce = ({ request, url }: { readonly request: Request; readonly url: string }) => (
  <>
    <Body body={request.body} />
    <section>
      <h2>{own.headers}</h2>
      <pre className="record" tabIndex={0}>
        {request.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
      </pre>
    </section>
    <section>
      <h2>{own.curl}</h2>
      <p className="quiet">{own.curlText}</p>
      <CopyBlock text={curlOf(request, url)} />
    </section>
    <section>
      <h2>{own.verify}</h2>
      <CopyBlock text={verifierOf(request.signature)} />
      <p>
        <a href="/docs/webhooks">{own.verifyMore}</a>
      </p>
    </section>
  </>
);

const Found = ({ delivery }: { readonly delivery: Row }) => {
  const { merchantId, id, status, request } = delivery;
  const { isRunning, outcome, run } = useRun(async () => {
    const came = await send(graph.ResendDelivery, { merchantId, id }, words.delivery.resent);
    reloadScreen();
    return came;
  });
  return (
    <div className="payment">
      <div className="payment-head">
        <Status tone={tones[status]}>{words.delivery.statuses[status]}</Status>
        <p className="quiet line break">{delivery.url}</p>
        <Id id={delivery.eventId} whole />
      </div>
      <div className="acts">
        <ActButton permission="webhookDeliveryResend" onPress={() => !isRunning && run()}>
          {status === 'pending' ? own.retryOne : words.delivery.resend}
        </ActButton>
      </div>
      <p className="quiet">{request ? words.delivery.resendText : own.gone}</p>
      {request && delivery.event.startsWith('payout') && <p className="quiet">{own.masked}</p>}
      <p aria-live="polite">{outcome && toldBy(outcome)}</p>
      <section>
        <h2>{words.columns.attempts}</h2>
        <Attempts delivery={delivery} />
      </section>
      {request && <Reproduce request={request} url={delivery.url} />}
    </div>
  );
};

/** The drawer of a webhook; `name` is `<merchant>/<delivery>`. */
export const DeliveryDrawer = ({ name }: { readonly name: string }) => {
  const [merchantId = '', id = ''] = name.split('/');
  const follow = { lists: ['webhook_deliveries'] } as const;
  const { data, error } = useAsk(graph.Delivery, { merchantId, id }, { follow });
  const found = data?.webhookDelivery;
  return (
    <Drawer title={found?.event.replace('_', '.') ?? words.delivery.none}>
      {!data && <Waiting error={error} />}
      {data && !found && <Empty title={sharedWords.notFound} />}
      {found && <Found delivery={found} />}
    </Drawer>
  );
};
