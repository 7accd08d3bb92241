/** `psp events resend`: has an event delivered once more. */
import type { PaymentClient } from '../client.ts';
import type { Command } from './command.ts';
import { Failure } from './failure.ts';
import { askGraph, operatorGraphOf } from './operator-graph.ts';
import { row } from './output.ts';
import { idOf } from './shared-options.ts';

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly url: string;
}

/** Whose event it is: a receipt says it by its payment alone. */
const merchantOf = async (
  client: PaymentClient,
  data: Readonly<Record<string, unknown>>,
): Promise<string> => {
  if (typeof data['merchant_id'] === 'string') return data['merchant_id'];
  return (await client.payments.get(String(data['payment_id']))).merchant_id;
};

export const resend: Command = {
  name: 'events resend',
  args: '<id>',
  says: 'deliver an event again, with the same bytes and id',
  notes: ['Needs PSP_OPERATOR_TOKEN, the token of a person: keys may not have events delivered.'],
  run: async (context) => {
    const { client, output, stopped } = context;
    const graph = operatorGraphOf(context, 'delivering an event again');
    const logged = await client().eventLog.get(idOf(context));
    const data: Readonly<Record<string, unknown>> = { ...logged.data };
    const merchantId = await merchantOf(client(), data);
    const found = await askGraph<{ webhookDeliveries: { nodes: Delivery[] } }>(
      graph,
      'the deliveries',
      {
        query: `query ($m: ID, $s: ID) { webhookDeliveries(merchantId: $m, subjectId: $s, first: 200) {
          nodes { id eventId url } } }`,
        variables: { m: merchantId, s: data['id'] },
      },
      stopped,
    );
    const own = found.webhookDeliveries.nodes.filter(({ eventId }) =>
      logged.id.endsWith(eventId.replace('evt_', '')),
    );
    if (own.length === 0)
      throw new Failure('refused', `${logged.event} has no delivery: no endpoint was sent it`);
    for (const { id, url } of own) {
      const { webhookDeliveryResend: answer } = await askGraph<{
        webhookDeliveryResend: { readonly message?: string; readonly status?: string };
      }>(
        graph,
        'the delivery',
        {
          query: `mutation ($m: ID!, $d: ID!) { webhookDeliveryResend(merchantId: $m, id: $d) {
            ... on WebhookDelivery { status } ... on Refused { message } } }`,
          variables: { m: merchantId, d: id },
        },
        stopped,
      );
      if (answer.message !== undefined) throw new Failure('refused', `${url}: ${answer.message}`);
      output.result({ id: logged.id, url, status: answer.status }, row(logged.event, url));
    }
  },
};
