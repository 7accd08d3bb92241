#!/usr/bin/env node
/** The command `psp`. */
import { fail, isJson, runLine } from './run-line.ts';
import { listenForStop } from './failure.ts';

const line = process.argv.slice(2);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader may close the pipe early: `psp payments list | head`.
  if (error.code !== 'EPIPE')
    process.exitCode = fail(process, new Error(`cannot write: ${error.code}`), isJson(line), false);
  process.exit();
});
process.exitCode = await runLine(line, process, listenForStop);
