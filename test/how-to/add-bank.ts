/** A connector to an acquirer called Northbank, which never answers. */
import { ahead, behind, all, create, instead, tests, type Walk } from './walk.ts';

const ownTest = tests('test/live/northbank.test.ts');

export const addBank: Walk = {
  section: 'Add a bank',
  steps: [
    {
      named: 'subgraphs/kernel/banks/<bank>/config.ts',
      path: 'subgraphs/kernel/banks/northbank/config.ts',
      edit: create(`/** How Northbank is reached: the variables NORTHBANK_*. */
import { text, url, type Reader } from '../../service/config/read-variables.ts';

/** Reads the variables. Null: this installation has no account there. */
export const readNorthbank = (reader: Reader) => {
  const { secret, ...reached } = reader.read({
    /** Its base address. */
    url: ['NORTHBANK_URL', url('https:', 'http:'), 'https://api.northbank.example'],
    /** Signs its notifications. */
    secret: ['NORTHBANK_SECRET', text],
  });
  return secret === null ? null : { secret, ...reached };
};
export type NorthbankConfig = NonNullable<ReturnType<typeof readNorthbank>>;
`),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/kernel/banks/<bank>/connector.ts',
      path: 'subgraphs/kernel/banks/northbank/connector.ts',
      edit: create(`/** Northbank among the acquirers: its configuration, its notifications, how it is opened. */
import type { NotificationRoute } from '../../service/bank-notifications.ts';
import type { Reader } from '../../service/config/read-variables.ts';
import type { Connector, OpenedBank } from '../connector.ts';
import { readNorthbank, type NorthbankConfig } from './config.ts';

const textIn = (body: unknown, name: string): string | null => {
  const value: unknown =
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : null;
};

export class NorthbankConnector implements Connector {
  readonly config: NorthbankConfig;

  constructor(config: NorthbankConfig) {
    this.config = config;
  }

  /** Null: this installation has no account. */
  static read(this: void, read: Reader): NorthbankConnector | null {
    const config = readNorthbank(read);
    return config && new NorthbankConnector(config);
  }

  get notifications(): NotificationRoute {
    const { secret } = this.config;
    return {
      connector: 'northbank',
      path: '/callbacks/northbank',
      verify: ({ body }) => textIn(body, 'secret') === secret,
      read: ({ body }) => {
        const [merchantId, operationId] = [textIn(body, 'merchant'), textIn(body, 'operation')];
        if (merchantId === null || operationId === null) return null;
        return { merchantId, operationId, isPayout: false };
      },
      acknowledgement: null,
    };
  }

  async open(): Promise<OpenedBank> {
    const { openNorthbank } = await import('./open-northbank.ts');
    return openNorthbank();
  }
}
`),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/kernel/banks/<bank>/open-<bank>.ts',
      path: 'subgraphs/kernel/banks/northbank/open-northbank.ts',
      edit: create(`/** The connector to Northbank, behind the port of every acquirer. */
import type { OpenedBank } from '../connector.ts';

const unknown = { kind: 'unknown' } as const;

/** Opens the connector; nothing is called until it is asked to. */
export const openNorthbank = (): OpenedBank => ({
  connector: 'northbank',
  bankName: 'Northbank',
  methods: ['sbp'],
  cardsOn: 'bank_page',
  sessionTtl_min: 20,
  savable: [],
  payoutWays: [],
  openSession: async () => unknown,
  ask: async () => unknown,
  charge: async () => unknown,
  refund: async () => unknown,
  pay: async () => unknown,
  askPayout: async () => unknown,
  close: async () => {},
});
`),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/kernel/banks/connectors.ts',
      path: 'subgraphs/kernel/banks/connectors.ts',
      edit: all(
        ahead(
          "import { TBankConnector } from './tbank/connector.ts';\n",
          "import { NorthbankConnector } from './northbank/connector.ts';\n",
        ),
        instead(
          '[YooKassaConnector.read, TBankConnector.read]',
          '[YooKassaConnector.read, TBankConnector.read, NorthbankConnector.read]',
        ),
      ),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/kernel/banks/LIVE.md',
      path: 'subgraphs/kernel/banks/LIVE.md',
      edit: behind(
        '| `TBANK_TIMEOUT_MS` | 4000 | how long one attempt of a call may take; a call has two at most |\n',
        `| \`NORTHBANK_SECRET\` | none | the installation's account at Northbank |
| \`NORTHBANK_URL\` | \`https://api.northbank.example\` | its base address |
`,
      ),
      missedBy: tests('test/tidy/configuration.test.ts'),
    },
    {
      named: 'test/live/<bank>.test.ts',
      path: 'test/live/northbank.test.ts',
      edit: create(`import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readConfig } from '../../subgraphs/read-config.ts';
import { openNorthbank } from '../../subgraphs/kernel/banks/northbank/open-northbank.ts';

test('Northbank is an acquirer of an installation that has its secret', async () => {
  const paths = (environment: Record<string, string>): readonly string[] =>
    readConfig(environment).connectors.map(({ notifications }) => notifications.path);
  assert.ok(paths({ NORTHBANK_SECRET: 'secret' }).includes('/callbacks/northbank'));
  assert.ok(!paths({}).includes('/callbacks/northbank'));
  const bank = openNorthbank();
  assert.deepEqual(bank.methods, ['sbp']);
  await bank.close();
});
`),
      missedBy: ownTest,
    },
  ],
  tests: [tests('test/tidy/configuration.test.ts'), tests('test/tidy/imports.test.ts'), ownTest],
};
