/**
 * Whether webhooks may go to http and to loopback: as the switch is set, or by itself while the
 * service is a developer's, that is while its public address is http on loopback and live mode is
 * on for no merchant. An installation that others reach must not call the machine that it runs on
 * for a merchant.
 */
import type { Database } from '../../kernel/database/orm.ts';
import type { Bus } from '../../kernel/service/bus.ts';
import type { Config } from '../../kernel/service/config/config.ts';
import { MerchantEntity } from '../entities.ts';

/** A change is announced on the bus, which may lose it. */
const lookAgain_ms = 5_000;

/** Whether an address is http on loopback. */
export const isLocalAddress = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
};

export interface DevelopmentTargetsParts {
  readonly setting: Config['webhookPrivateTargets'];
  readonly publicUrl: string;
  readonly database: Pick<Database, 'fork'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/** What is allowed now; `close` ends the looking. */
export interface DevelopmentTargets {
  readonly areAllowed: () => boolean;
  close(): void;
}

/** Opens the switch. While it is unknown whether a merchant is live, nothing is allowed. */
export const openDevelopmentTargets = async ({
  setting,
  publicUrl,
  database,
  bus,
}: DevelopmentTargetsParts): Promise<DevelopmentTargets> => {
  if (setting !== 'development' || !isLocalAddress(publicUrl))
    return { areAllowed: () => setting === 'allow', close: () => {} };
  let allowed = false;
  let looks = 0;
  const look = async (): Promise<void> => {
    looks += 1;
    const mine = looks;
    const live = await database
      .fork()
      .findOne(MerchantEntity, { liveEnabled: true }, { fields: ['id'] })
      .catch(() => undefined);
    // An older look that comes late is out of date.
    if (mine === looks) allowed = live === null;
  };
  await look();
  // Live mode is switched with the message that keys have changed.
  const unsubscribe = bus.subscribe('keys', () => void look());
  const again = setInterval(() => void look(), lookAgain_ms).unref();
  return {
    areAllowed: () => allowed,
    close: () => {
      unsubscribe();
      clearInterval(again);
    },
  };
};
