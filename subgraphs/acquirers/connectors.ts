/** The acquirers that this program knows. A new one is its folder and its line here. */
import type { Reader } from '../platform/config/read-variables.ts';
import type { Connector } from './connector.ts';
import { readTBankConnector } from './tbank/connector.ts';
import { readYooKassaConnector } from './yookassa/connector.ts';

/** In the order in which connectors are opened. */
const readers = [readYooKassaConnector, readTBankConnector];

/** The acquirers of an installation; mistakes in their variables are added to the reading's. */
export const readConnectors = (read: Reader): readonly Connector[] =>
  readers.flatMap((readOne) => readOne(read) ?? []);
