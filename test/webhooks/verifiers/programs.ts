/** The documented functions of each language, run as a merchant would run them. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook as verifyDelivery, WebhookError } from '../../../sdk/src/index.ts';
import {
  verifyLegacyWebhook,
  verifyWebhook,
} from '../../../rest-facade/webhook-guide/verify-webhook.ts';

/** A delivery, or something made out of one, before a verifier. */
export interface Case {
  readonly is: string;
  /** Base64 of the raw body. */
  readonly body: string;
  readonly header: string;
  readonly secret: string;
  /** Which of the two functions is asked. */
  readonly legacy: boolean;
  /** The receiver's clock. */
  readonly now_s: number;
  readonly genuine: boolean;
}

export interface Program {
  readonly language: string;
  /** What the function says of each case. */
  check(cases: readonly Case[]): Promise<readonly boolean[]>;
}

const guide = join(import.meta.dirname, '../../../rest-facade/webhook-guide');
const here = (name: string): string => join(import.meta.dirname, name);

const run = async (
  command: string,
  args: readonly string[],
  cases: readonly Case[],
  cwd = guide,
): Promise<readonly boolean[]> => {
  const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  let answered = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (answered += text));
  child.stdin.end(JSON.stringify(cases));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}`);
  return JSON.parse(answered);
};

const isFound = (command: string, versionArgument: string): boolean =>
  spawnSync(command, [versionArgument]).status === 0;

const typeScript: Program = {
  language: 'TypeScript',
  check: async (cases) =>
    cases.map(({ body, header, secret, legacy, now_s }) => {
      const bytes = Buffer.from(body, 'base64');
      return legacy
        ? verifyLegacyWebhook(bytes, header, secret)
        : verifyWebhook(bytes, header, secret, undefined, now_s);
    }),
};

const sdk: Program = {
  language: 'the SDK',
  check: (cases) =>
    Promise.all(
      cases.map(({ body, header, secret, legacy, now_s }) =>
        verifyDelivery({
          body: Buffer.from(body, 'base64'),
          headers: { 'X-PSP-Signature': header },
          secret,
          format: legacy ? 'legacy' : 'v2',
          now_s,
        }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof WebhookError) return false;
            throw error;
          },
        ),
      ),
    ),
};

const python: Program = {
  language: 'Python',
  check: (cases) => run('python3', [here('check.py'), guide], cases),
};

const php: Program = {
  language: 'PHP',
  check: (cases) => run(process.env['PHP'] ?? '', [here('check.php'), guide], cases),
};

const go: Program = {
  language: 'Go',
  check: async (cases) => {
    const folder = mkdtempSync(join(tmpdir(), 'payments-go-'));
    try {
      mkdirSync(join(folder, 'webhook'));
      copyFileSync(join(guide, 'verify_webhook.go'), join(folder, 'webhook/verify_webhook.go'));
      copyFileSync(here('check.go'), join(folder, 'main.go'));
      writeFileSync(join(folder, 'go.mod'), 'module check\n\ngo 1.19\n');
      return await run('go', ['run', '.'], cases, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** TypeScript, the SDK and Python always; PHP and Go where their runtime is on the machine. */
export const programs: readonly Program[] = [
  typeScript,
  sdk,
  python,
  ...(process.env['PHP'] ? [php] : []),
  ...(isFound('go', 'version') ? [go] : []),
];

/** Languages whose runtime is not on this machine. */
export const notHere: readonly string[] = ['PHP', 'Go'].filter(
  (language) => !programs.some((program) => program.language === language),
);
