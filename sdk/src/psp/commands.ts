/** The table of commands, which defines help, completion and parsing. */
import { account } from './account.ts';
import { anyCall } from './any-call.ts';
import type { Command } from './command.ts';
import { completionScript, shells } from './help.ts';
import { links } from './links.ts';
import { listen } from './listen.ts';
import { logs } from './logs.ts';
import { mcp } from './mcp/command.ts';
import { payCommand } from './pay.ts';
import { payments } from './payments.ts';
import { payouts } from './payouts.ts';
import { resend } from './resend.ts';
import { setup } from './setup.ts';
import { subscriptions } from './subscriptions.ts';
import { tokens } from './tokens.ts';
import { trigger } from './trigger.ts';

const completion: Command = {
  name: 'completion',
  args: '<shell>',
  says: 'print what a shell evaluates to complete psp: eval "$(psp completion bash)"',
  choices: shells,
  run: ({ given, stdout }) => void stdout.write(completionScript(given.args[0] ?? '')),
};

export const commands: readonly Command[] = [
  ...setup,
  listen,
  trigger,
  payCommand,
  ...payments,
  ...payouts,
  ...subscriptions,
  ...tokens,
  ...links,
  ...account,
  resend,
  logs,
  ...anyCall,
  mcp,
  completion,
];
