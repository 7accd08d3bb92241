/**
 * Has setup.mjs, which loads this before itself, stand still for a second behind each program that
 * it starts, as a busy machine may have it do.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

if (process.argv[1]?.endsWith('setup.mjs')) {
  const { spawn } = childProcess;
  const stalled = (...args: Parameters<typeof spawn>): ReturnType<typeof spawn> => {
    const child = spawn(...args);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    return child;
  };
  Object.assign(childProcess, { spawn: stalled });
  syncBuiltinESMExports();
}
