/** The whole configuration: of the service, and of its acquirers. */
import type { Connector } from './acquirers/connector.ts';
import { readConnectors } from './acquirers/connectors.ts';
import { readServiceConfig, type Config, type SettledConfig } from './platform/config/config.ts';
import type { Environment } from './platform/config/read-variables.ts';

/** What the wiring knows of the acquirers. */
interface ConnectorsConfig {
  readonly connectors: readonly Connector[];
}

/** The settled configuration of everything that a process runs. */
export type ProcessConfig = SettledConfig & ConnectorsConfig;

/** Reads the configuration. Throws one error that lists every mistake. */
export const readConfig = (environment: Environment): Config & ConnectorsConfig =>
  readServiceConfig(environment, (read) => ({ connectors: readConnectors(read) }));
