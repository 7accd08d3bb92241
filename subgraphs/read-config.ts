/** The whole configuration: of the service, and of its acquirers. */
import type { Connector } from './acquirers/connector.ts';
import { readServiceConfig, type Config, type SettledConfig } from './platform/config/config.ts';
import type { Environment, Reader } from './platform/config/read-variables.ts';
import { readTBankConnector } from './acquirers/tbank/connector.ts';
import { readYooKassaConnector } from './acquirers/yookassa/connector.ts';

/** In the order in which connectors are opened. */
const readers = [readYooKassaConnector, readTBankConnector];

/** The acquirers of an installation; mistakes in their variables are added to the reading's. */
export const readConnectors = (read: Reader): readonly Connector[] =>
  readers.flatMap((readOne) => readOne(read) ?? []);

/** What the wiring knows of the acquirers. */
interface ConnectorsConfig {
  readonly connectors: readonly Connector[];
}

/** The settled configuration of everything that a process runs. */
export type ProcessConfig = SettledConfig & ConnectorsConfig;

/** Reads the configuration. Throws one error that lists every mistake. */
export const readConfig = (environment: Environment): Config & ConnectorsConfig =>
  readServiceConfig(environment, (read) => ({ connectors: readConnectors(read) }));
