/**
 * Sends new alerts out of the console: to a webhook and by e-mail. Each is sent at least once; what
 * was sent twice has the same id.
 */
import { createTransport } from 'nodemailer';
import { rfc3339 } from '../../../schema/scalars.ts';
import { AlertEntity, type Alert } from '../../platform/alerts/entities.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { done, type Job } from '../../platform/queue/run-job.ts';
import { alertKinds, placeOf } from '../../rules/alert.ts';
import { merchantOrNone } from '../../rules/ids.ts';
import type { AlertChannels } from '../../platform/config/config.ts';
import { loadMerchants } from '../find-merchants.ts';
import { sign } from '../webhooks/rules.ts';

export interface ChannelDeps extends OnDatabase<'pool' | 'fork'> {
  readonly now: () => Temporal.Instant;
  readonly publicUrl: string;
  readonly channels: AlertChannels;
}

interface Channel {
  readonly name: 'webhook' | 'mail';
  readonly send: (notice: Notice) => Promise<void>;
}

/** Alerts of one run. */
const batch_max = 20;
/** An older one is not sent any more: a channel that is new does not begin with the past. */
const sent_max_h = 24;
const sendDeadline_ms = 10_000;

const mark = (column: string): Statement => ({
  name: `alert.${column}`,
  text: `update alert set ${column} = $3 where merchant_id = $1 and id = $2 and raised_at = $4`,
});
/** When a channel took an alert. */
const sentAt = {
  webhook: { property: 'postedAt', column: 'posted_at', mark: mark('posted_at') },
  mail: { property: 'mailedAt', column: 'mailed_at', mark: mark('mailed_at') },
} as const;

/** One message, as the webhook posts it. */
const noticeOf = (
  { id, kind, merchantId, mode, subjectId, detail, raisedAt }: Alert,
  merchantName: string | null,
  publicUrl: string,
) => {
  const owner = merchantOrNone(merchantId);
  return {
    id,
    kind,
    severity: alertKinds[kind].severity,
    merchant_id: owner,
    merchant_name: merchantName,
    mode,
    subject_id: subjectId,
    detail,
    raised_at: rfc3339(raisedAt),
    /** Where the console shows what it is about. */
    url: `${publicUrl}/console${placeOf({ kind, merchantId: owner, mode, subjectId })}`,
  };
};
type Notice = ReturnType<typeof noticeOf>;

const webhook = ({ url, secret }: NonNullable<AlertChannels['webhook']>): Channel => ({
  name: 'webhook',
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
    name: 'mail',
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
  { database, now, publicUrl }: ChannelDeps,
  { name, send }: Channel,
): Promise<void> => {
  const em = database.fork();
  const { property } = sentAt[name];
  for (;;) {
    const alerts = await em.find(
      AlertEntity,
      { [property]: null, raisedAt: { $gt: now().subtract({ hours: sent_max_h }) } },
      { orderBy: { raisedAt: 'asc' }, limit: batch_max, disableIdentityMap: true },
    );
    const owners = await loadMerchants(
      em,
      alerts.map(({ merchantId }) => merchantId),
    );
    for (const [place, alert] of alerts.entries()) {
      await send(noticeOf(alert, owners[place]?.name ?? null, publicUrl));
      // Raised anew meanwhile, it is sent again.
      const values = [alert.merchantId, alert.id, now(), alert.raisedAt];
      await run(database.pool, sentAt[name].mark, values);
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
    name: `send-alerts-${channel.name}`,
    queue: 'bank',
    due: [
      `exists (select 1 from alert where ${sentAt[channel.name].column} is null and raised_at > $1::timestamptz - interval '${sent_max_h} hours')`,
    ],
    run: async () => {
      await sendOver(deps, channel);
      return done;
    },
  }));
};
