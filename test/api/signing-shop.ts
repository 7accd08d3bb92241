/** A merchant's shop whose requests are signed. */
import {
  requireSignature,
  rotateSigningSecret,
  send,
  type Received,
  type Sending,
} from '../support/cabinet.ts';
import { makeMerchant } from '../support/merchant.ts';
import type { Service } from '../support/service.ts';

export const json = { 'content-type': 'application/json' };
export const payment = '{"amount":100}';
export const statusAndCode = ({ status, code }: Received): readonly [number, string] => [
  status,
  code,
];

/** A shop with a signing secret, which demands signatures by default. */
export const openSigningShop = async (
  service: Pick<Service, 'rest' | 'graph'>,
  required: boolean,
) => {
  const merchant = await makeMerchant(service);
  const secret = await rotateSigningSecret(service, merchant);
  if (required) await requireSignature(service, merchant, true);
  const call = (path: string, sending: Sending = {}): Promise<Received> =>
    send({ url: `${service.rest}/v1/public${path}`, key: merchant.key, ...sending });
  const pay = (body: string, signature: string | readonly string[] | null): Promise<Received> =>
    call('/payments', {
      method: 'POST',
      body,
      headers: { ...json, ...(signature === null ? {} : { 'x-psp-signature': signature }) },
    });
  return { merchant, secret, call, pay };
};
