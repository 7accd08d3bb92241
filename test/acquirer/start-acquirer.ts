/** The emulated acquirer as a process beside the service in tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FaultSettings } from './faults.ts';
import type { ReceiptBehaviour } from './register.ts';
import { eventually } from '../support/eventually.ts';
import { inherited } from '../support/service.ts';

export const shopAccount = { id: '100500', secret: 'secret-of-the-shop' } as const;
export const gatewayAccount = { id: '100700', secret: 'secret-of-the-gateway' } as const;

export const tbankTerminal = { id: 'TBankEmulator', password: 'password-of-the-terminal' } as const;

export interface AcquirerBooks {
  readonly payments: readonly any[];
  readonly refunds: readonly any[];
  readonly payouts: readonly any[];
  readonly receipts: readonly any[];
  readonly tbank: {
    readonly payments: readonly any[];
    readonly cancels: readonly any[];
    readonly cards: readonly any[];
    readonly receipts: readonly any[];
  };
  /** What was asked or answered otherwise than the description says. */
  readonly violations: readonly string[];
  /** How many planned faults no call has had yet. */
  readonly planned: number;
}

export interface Acquirer {
  /** YooKassa's base address, as the connector is configured with. */
  readonly api: string;
  /** T-Bank's. */
  readonly tbankApi: string;
  books(): Promise<AcquirerBooks>;
  faults(settings: FaultSettings): Promise<void>;
  /**
   * Where notifications go; whether buyers confirm by themselves, and after how long; how cash
   * registers behave.
   */
  callbacks(settings: {
    readonly callbackUrl?: string | null;
    readonly confirmAfter_ms?: number | null;
    readonly receipts?: ReceiptBehaviour;
  }): Promise<void>;
  /** What a buyer does on the confirmation page. */
  confirm(url: string, decision: 'pay' | 'refuse'): Promise<void>;
  stop(): Promise<void>;
}

const send = async (url: string, body: string, type: string): Promise<void> => {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
};

/** Starts it; `environment` adds to the process's. */
export const startAcquirer = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<Acquirer> => {
  const accounts = [shopAccount, gatewayAccount]
    .map(({ id, secret }) => `${id}:${secret}`)
    .join(',');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      ...inherited,
      ACQUIRER_PORT: '0',
      ACQUIRER_ACCOUNTS: accounts,
      ACQUIRER_TERMINAL: tbankTerminal.id,
      ACQUIRER_PASSWORD: tbankTerminal.password,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let answered = '';
  child.stdout?.on('data', (text: Buffer) => (answered += text.toString()));
  const base = await eventually(() => /(http:\/\/\S+)\/v3/.exec(answered)?.[1], 'the acquirer');
  return {
    api: `${base}/v3`,
    tbankApi: `${base}/v2`,
    books: async () => (await fetch(`${base}/admin/books`)).json() as Promise<AcquirerBooks>,
    faults: (settings) =>
      send(`${base}/admin/faults`, JSON.stringify(settings), 'application/json'),
    callbacks: (settings) =>
      send(`${base}/admin/callbacks`, JSON.stringify(settings), 'application/json'),
    confirm: (url, decision) =>
      send(url, `decision=${decision}`, 'application/x-www-form-urlencoded'),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
};
