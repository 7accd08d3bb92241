/**
 * `npm run acquirer`: the emulated acquirers as a process of their own, a development tool. Its
 * settings are in docs/testing.md.
 */
import { receiptBehaviours } from './register.ts';
import { serveAcquirer } from './serve-acquirer.ts';

const text = (name: string): string | null => process.env[`ACQUIRER_${name}`] || null;
const confirmAfter = text('CONFIRM_AFTER_MS');

const acquirer = await serveAcquirer({
  port: Number(text('PORT') ?? 4_100),
  host: text('HOST') ?? '127.0.0.1',
  publicUrl: text('PUBLIC_URL'),
  callbackUrl: text('CALLBACK_URL'),
  confirmAfter_ms: confirmAfter === null ? null : Number(confirmAfter),
  receipts: receiptBehaviours.find((each) => each === text('RECEIPTS')) ?? 'usual',
  publishedFile: text('PUBLISHED'),
  seed: Number(text('SEED') ?? 1),
  accounts: (text('ACCOUNTS') ?? 'shop:secret,gateway:secret').split(','),
  terminal: text('TERMINAL') ?? 'terminal',
  password: text('PASSWORD') ?? 'password',
  ffd: text('FFD') ?? '1.2',
});
process.stdout.write(
  `The emulated acquirers: YooKassa ${acquirer.url}/v3, T-Bank ${acquirer.url}/v2\n`,
);

const stop = (): void => void acquirer.close().then(() => process.exit(0));
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop);
