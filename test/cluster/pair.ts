/**
 * Two PostgreSQL servers: a primary and its synchronous standby, who change places when the primary
 * is lost, and what shows HAProxy which of them is which.
 */
import {
  askServer,
  closeHouse,
  endServer,
  openHouse,
  startPrimary,
  startStandby,
  takeBackup,
  type PostgresServer,
  type ServerHouse,
} from './postgres-server.ts';
import { sayPrimary } from './say-primary.ts';
import { eventually } from '../support/eventually.ts';

export interface Pair {
  /** Of the superuser, at either. */
  readonly password: string;
  /** The port of each server, and the one where HAProxy asks whether it is the primary. */
  readonly servers: readonly { readonly port: number; readonly healthPort: number }[];
  /** Kills the primary and promotes its standby, as a cluster manager would. */
  failOver(): Promise<void>;
  /**
   * Has the server that was lost come back at its port, as the standby: a fresh copy of the one that is
   * the primary now.
   */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}

/** Waits until the standby streams; what is answered as done is on both from then on. */
const pairUp = async (primary: PostgresServer): Promise<void> => {
  const streams = async (): Promise<boolean> =>
    (await askServer(primary.url, 'select from pg_stat_replication where state = $$streaming$$'))
      .length > 0;
  await eventually(streams, 'the standby');
  await askServer(primary.url, "alter system set synchronous_standby_names = '*'");
  await askServer(primary.url, 'select pg_reload_conf()');
};

const makeStandby = async (
  house: ServerHouse,
  primary: PostgresServer,
  name: string,
  port?: number,
): Promise<PostgresServer> => {
  const standby = await startStandby(house, await takeBackup(house, primary, name), primary, port);
  await pairUp(primary);
  return standby;
};

/** Starts both, the database `payments` empty on them. */
export const startPair = async (): Promise<Pair> => {
  const house = openHouse();
  let primary = await startPrimary(house);
  let standby = await makeStandby(house, primary, 'standby-1');
  let copies = 1;
  const both = [primary, standby];
  const sayers = await Promise.all(both.map(({ url }) => sayPrimary(url)));
  let lost: PostgresServer | null = null;
  return {
    password: primary.password,
    servers: both.map(({ port }, index) => ({ port, healthPort: sayers[index]?.port ?? 0 })),
    failOver: async () => {
      await endServer(primary, 'SIGKILL');
      await askServer(standby.url, 'select pg_promote()');
      [lost, primary] = [primary, standby];
    },
    rejoin: async () => {
      copies += 1;
      if (lost) standby = await makeStandby(house, primary, `standby-${copies}`, lost.port);
    },
    stop: async () => {
      await Promise.all(sayers.map((sayer) => sayer.close()));
      for (const server of [standby, primary]) await endServer(server, 'SIGKILL');
      closeHouse(house);
    },
  };
};
