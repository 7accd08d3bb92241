/**
 * Who may hear what of the stream: a key its shop in its mode, an operator all or one merchant, a
 * buyer the own payment.
 */
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Principal } from '../../subgraphs/kernel/service/access/principal.ts';

/** What an event must be of to be heard; a field that is absent narrows nothing. */
export type Audience = Readonly<
  Partial<Pick<StreamedEvent, 'merchantId' | 'shopId' | 'mode' | 'subjectId'>>
>;

/**
 * What the caller hears, narrowed to `merchantId` when one is named. Refuses with `not_found` a
 * merchant that is not the caller's.
 */
export const audienceOf = (principal: Principal, merchantId: string | null): Audience | Refused => {
  switch (principal.kind) {
    case 'key':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        shopId: principal.shopId,
        mode: principal.mode,
      });
    case 'operator': {
      if (principal.merchantId === null) return merchantId === null ? {} : { merchantId };
      return within(principal.merchantId, merchantId, { merchantId: principal.merchantId });
    }
    case 'buyer':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        subjectId: principal.paymentId,
      });
    case 'edge':
    case 'service':
      return refused('not_found', 'The stream is not for services.');
  }
};

const within = (own: string, asked: string | null, audience: Audience): Audience | Refused =>
  asked === null || asked === own ? audience : refused('not_found', 'There is no such merchant.');

/** A name for the audience: equal audiences have equal names. */
export const nameOfAudience = ({ merchantId, shopId, mode, subjectId }: Audience): string =>
  [merchantId, shopId, mode, subjectId].map((part) => part ?? '*').join(' ');

/** The names of all audiences that hear the event. */
export const namesOfAudiences = ({
  merchantId,
  shopId,
  mode,
  subjectId,
}: StreamedEvent): readonly string[] => [
  nameOfAudience({}),
  nameOfAudience({ merchantId }),
  nameOfAudience({ merchantId, shopId, mode }),
  nameOfAudience({ merchantId, subjectId }),
];
