/**
 * Builds the console into `console/dist`, unless that is of these very sources: for setup.mjs and
 * the Dockerfile.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { built, isBuilt, mark, sourcesDigest } from './sources.mjs';

/**
 * A screen needs few files, which matters more on a slow network than the bytes of a part that it
 * does without: the libraries of every screen, those of dialogs, and what many screens share.
 */
const groups = [
  { name: 'libraries', test: /node_modules/, tags: ['$initial' as const], priority: 2 },
  { name: 'dialogs', test: /node_modules/, priority: 1 },
  { name: 'shared', test: /console[\\/]src|schema/, minShareCount: 3 },
];

/** Compresses texts as well as can be, a fifth better than what a server does while it starts. */
const compressFiles = (folder: string): void => {
  for (const name of readdirSync(folder).filter((one) => /\.(js|css)$/.test(one)))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(readFileSync(join(folder, name))));
};

/** Builds beside what is there, and puts it in its place when it is whole. */
const buildInto = async (digest: string): Promise<void> => {
  const { build } = await import('vite');
  const made = `${built}.${process.pid}`;
  try {
    await build({
      configFile: false,
      root: import.meta.dirname,
      base: '/console/',
      logLevel: 'error',
      build: {
        outDir: made,
        emptyOutDir: true,
        target: 'es2023',
        modulePreload: { polyfill: false },
        // Small files stay files, too: the policy takes no data addresses.
        assetsInlineLimit: 0,
        reportCompressedSize: false,
        rolldownOptions: { output: { codeSplitting: { groups } } },
      },
    });
    compressFiles(join(made, 'assets'));
    writeFileSync(join(made, mark), digest);
    rmSync(built, { recursive: true, force: true });
    renameSync(made, built);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
};

if (!isBuilt()) {
  const began = performance.now();
  process.stderr.write('Building the console ...\n');
  await buildInto(sourcesDigest());
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stderr.write(`The console is built (${seconds} s).\n`);
}
