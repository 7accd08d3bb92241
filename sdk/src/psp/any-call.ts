/** Calls by path, for routes without a command, and the directory of SBP banks. */
import type { Command, Context } from './command.ts';
import { Failure } from './failure.ts';
import { row } from './output.ts';
import { callOptionsOf, creating } from './read-values.ts';

const base = '/v1/public';

/** `/payments?limit=1` or `/v1/public/payments?limit=1`. */
const pathOf = ({ given }: Context): string => {
  const [path = ''] = given.args;
  if (!/^\/[!-~]*$/.test(path))
    throw new Failure('usage', 'expected a path that begins with /, as /payments?limit=1');
  return path.startsWith(`${base}/`) ? path : `${base}${path}`;
};

const readBody = (text: string | undefined): unknown => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Failure('usage', 'the body is not JSON');
  }
};

/** Every API answer read here is an object. */
const objectOf = async (response: Response): Promise<object> => (await response.json()) as object;

const print = ({ output }: Context, answer: object): void =>
  output.result(answer, JSON.stringify(answer, null, 2));

/** The rows of these commands. */
export const anyCall: readonly Command[] = [
  {
    name: 'get',
    args: '<path>',
    says: 'call the API by a path: psp get "/payments?limit=1"',
    run: async (context) => {
      const call = { method: 'GET', path: pathOf(context) } as const;
      print(context, await context.send()(call, objectOf));
    },
  },
  {
    name: 'post',
    args: '<path> [json]',
    says: `call the API by a path with a body: psp post /payments '{"amount": 10000}'`,
    options: creating,
    run: async (context) => {
      const { given } = context;
      const call = {
        method: 'POST',
        path: pathOf(context),
        body: readBody(given.args[1]),
        takesKey: true,
        options: callOptionsOf(given),
      } as const;
      print(context, await context.send()(call, objectOf));
    },
  },
  {
    name: 'banks',
    says: 'list the banks of SBP with the ids that payouts take',
    run: async ({ client, output }) => {
      for await (const bank of client().sbpBanks.list())
        output.result(bank, row(bank.member_id, bank.name));
    },
  },
];
