/**
 * Sends new alerts out of the console: to a webhook and by e-mail. Each is sent at least once; what
 * was sent twice has the same id.
 */
import { createTransport } from 'nodemailer';
import type pg from 'pg';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import type { Alert } from '../../platform/alerts/entities.ts';
import { alertColumns } from '../../platform/alerts/alerts.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { done, type Job } from '../../platform/queue/run-job.ts';
import { alertSeverities, placeOf } from '../../rules/alert.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import type { AlertChannels } from '../../platform/config/config.ts';
import { sign } from '../webhooks/rules.ts';

export interface ChannelDeps {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly publicUrl: string;
  readonly channels: AlertChannels;
}

/** One message, as the webhook posts it. */
interface Notice {
  readonly id: string;
  readonly kind: string;
  readonly severity: string;
  readonly merchant_id: string | null;
  readonly merchant_name: string | null;
  readonly mode: string | null;
  readonly subject_id: string;
  readonly detail: string;
  readonly raised_at: string;
  /** Where the console shows what it is about. */
  readonly url: string;
}

interface Channel {
  readonly column: 'posted_at' | 'mailed_at';
  readonly send: (notice: Notice) => Promise<void>;
}

/** Alerts of one run. */
const batch_max = 20;
/** An older one is not sent any more: a channel that is new does not begin with the past. */
const sent_max_h = 24;
const sendDeadline_ms = 10_000;

type Row = Alert & { readonly merchantName: string | null };

const unsent = (column: Channel['column']): Statement => ({
  name: `alert.not_${column}`,
  text: `select ${alertColumns}, (select name from merchant where merchant.id = alert.merchant_id) as "merchantName"
    from alert where ${column} is null and raised_at > $1 order by raised_at limit ${batch_max}`,
});
const mark = (column: Channel['column']): Statement => ({
  name: `alert.${column}`,
  text: `update alert set ${column} = $3 where merchant_id = $1 and id = $2 and raised_at = $4`,
});

const unsentOf = { posted_at: unsent('posted_at'), mailed_at: unsent('mailed_at') } as const;
const markOf = { posted_at: mark('posted_at'), mailed_at: mark('mailed_at') } as const;

const noticeOf = (
  { id, kind, merchantId, merchantName, mode, subjectId, detail, raisedAt }: Row,
  publicUrl: string,
): Notice => {
  const owner = merchantId === platformMerchantId ? null : merchantId;
  return {
    id,
    kind,
    severity: alertSeverities[kind],
    merchant_id: owner,
    merchant_name: merchantName,
    mode,
    subject_id: subjectId,
    detail,
    raised_at: rfc3339(raisedAt),
    url: `${publicUrl}/console${placeOf({ kind, merchantId: owner, mode, subjectId })}`,
  };
};

const webhook = ({ url, secret }: NonNullable<AlertChannels['webhook']>): Channel => ({
  column: 'posted_at',
  send: async (notice) => {
    const body = JSON.stringify(notice);
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-PSP-Event-Id': notice.id,
        ...sign({ current: secret, previous: null }, body, Temporal.Now.instant(), 'v2'),
      },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(sendDeadline_ms),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the alert webhook answered ${answer.status}`);
  },
});

const mail = ({ smtpUrl, from, to }: NonNullable<AlertChannels['mail']>): Channel => {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: sendDeadline_ms,
    greetingTimeout: sendDeadline_ms,
    socketTimeout: sendDeadline_ms,
  });
  return {
    column: 'mailed_at',
    send: async ({ id, kind, severity, merchant_name, mode, detail, url, raised_at }) => {
      const whose = merchant_name ?? 'the platform';
      await transport.sendMail({
        from,
        to,
        messageId: `<${id}@alerts>`,
        subject: `[${severity}] ${kind}: ${whose}${mode === null ? '' : `, ${mode}`}`,
        text: `${detail}\n\n${url}\n\nMerchant: ${whose}\nSince: ${raised_at}\n`,
      });
    },
  };
};

/** Sends what a channel has not had, oldest first. Rejects when it does not take one. */
const sendOver = async (
  { pool, now, publicUrl }: ChannelDeps,
  { column, send }: Channel,
): Promise<void> => {
  for (;;) {
    const alerts = await run<Row>(pool, unsentOf[column], [now().subtract({ hours: sent_max_h })]);
    for (const alert of alerts) {
      await send(noticeOf(alert, publicUrl));
      // Raised anew meanwhile, it is sent again.
      await run(pool, markOf[column], [alert.merchantId, alert.id, now(), alert.raisedAt]);
    }
    if (alerts.length < batch_max) return;
  }
};

/** A job for each channel that the installation has. */
export const channelJobs = (deps: ChannelDeps): readonly Job[] => {
  const { channels } = deps;
  const open = [
    ...(channels.webhook ? [webhook(channels.webhook)] : []),
    ...(channels.mail ? [mail(channels.mail)] : []),
  ];
  return open.map((channel) => ({
    name: `send-alerts-${channel.column === 'posted_at' ? 'webhook' : 'mail'}`,
    queue: 'bank',
    due: [
      `exists (select 1 from alert where ${channel.column} is null and raised_at > $1::timestamptz - interval '${sent_max_h} hours')`,
    ],
    run: async () => {
      await sendOver(deps, channel);
      return done;
    },
  }));
};
