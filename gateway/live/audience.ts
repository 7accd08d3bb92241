/**
 * Who receives which events of the stream: a key those of its shop and mode, an operator all or one
 * merchant's, a buyer those of the own payment.
 */
import type { LiveKind, StreamedEvent } from '../../subgraphs/rules/event.ts';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';

/** The properties that an event must have to be received; an absent field matches anything. */
type Audience = Readonly<
  Partial<Pick<StreamedEvent, 'merchantId' | 'shopId' | 'mode' | 'subjectId'>>
>;

/** Selects events of the stream. */
export interface LiveFilter {
  readonly audience: Audience;
  readonly kinds: ReadonlySet<LiveKind>;
}

/**
 * The caller's audience, narrowed to `merchantId` when one is given. Refuses a merchant that is not
 * the caller's with `not_found`.
 */
export const audienceOf = (principal: Principal, merchantId: string | null): Audience | Refusal => {
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
      return refuse('not_found', 'The stream is not for services.');
  }
};

const within = (own: string, requested: string | null, audience: Audience): Audience | Refusal =>
  requested === null || requested === own
    ? audience
    : refuse('not_found', 'There is no such merchant.');

/** A name for the audience: equal audiences have equal names. */
export const audienceNameOf = ({ merchantId, shopId, mode, subjectId }: Audience): string =>
  [merchantId, shopId, mode, subjectId].map((part) => part ?? '*').join(' ');

/** The names of all audiences that receive the event. */
export const audienceNamesOf = ({
  merchantId,
  shopId,
  mode,
  subjectId,
}: StreamedEvent): readonly string[] => [
  audienceNameOf({}),
  audienceNameOf({ merchantId }),
  audienceNameOf({ merchantId, shopId, mode }),
  audienceNameOf({ merchantId, subjectId }),
];
