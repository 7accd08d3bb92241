/**
 * Whether webhooks may go to http and to loopback: as configured, or by default on a developer's
 * machine, where the public address is http on loopback and no merchant has live mode. A reachable
 * installation must not call its own machine on a merchant's behalf.
 */
import type { Database } from '../../platform/database/orm.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Config } from '../../platform/config/config.ts';
import { MerchantEntity } from '../entities.ts';

/** A change is announced on the bus, which may lose it. */
const lookAgain_ms = 5_000;

/** Whether an address is http on loopback. */
export const isLocalAddress = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
};

interface DevelopmentTargetsDeps {
  readonly setting: Config['webhookPrivateTargets'];
  readonly publicUrl: string;
  readonly database: Pick<Database, 'fork'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/** What is allowed now; `close` stops the checks. */
interface DevelopmentTargets {
  readonly areAllowed: () => boolean;
  close(): void;
}

/** Starts the checks. Until it is known whether a merchant is live, nothing is allowed. */
export const openDevelopmentTargets = async ({
  setting,
  publicUrl,
  database,
  bus,
}: DevelopmentTargetsDeps): Promise<DevelopmentTargets> => {
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
    // The result of an older check is stale.
    if (mine === looks) allowed = live === null;
  };
  await look();
  // Switching live mode publishes that keys have changed.
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
