/**
 * What every npm command of this project goes through: installs the packages when they are missing
 * or old, finds the Node 26 among them, and runs the command under it. Plain JavaScript without
 * packages: it runs on the Node 20 or newer that the machine has, before they are installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const neededNode = 26;
const look_ms = 250;
// Taken before anything else: npm may be killed while packages are being installed.
const startedBy = process.ppid;
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// One press of Ctrl-C arrives twice where npm passes it on, after the terminal; a busy machine
// takes its time for that.
const samePress_ms = process.env.npm_lifecycle_event ? 1_000 : 250;
// How long a program may take that was asked to end at once.
const atOnce_ms = 2_000;

/**
 * `drains`: the program listens to 'disconnect' and ends in order by itself, and losing us in any
 * way makes it end. The others get our signals. Packages that only development needs are neither
 * installed nor asked for where `runtimeOnly` is set. `console`: the console is built first.
 * `writes`: the folder that the program makes anew. `listens`: it takes the port that PORT names.
 */
const commands = {
  start: { program: ['main.ts'], drains: true, runtimeOnly: true, console: true, listens: true },
  'console:link': { program: ['main.ts', 'console:link'], runtimeOnly: true },
  test: { program: ['test/run.ts'], drains: true, console: true },
  'test:citus': { program: ['test/citus/main.ts'] },
  check: { program: ['test/check.ts'] },
  bench: { program: ['test/bench/run.ts'] },
  acquirer: { program: ['test/acquirer/main.ts'] },
  psp: { program: ['sdk/src/psp/main.ts'], runtimeOnly: true },
  chaos: { program: ['test/chaos/main.ts'] },
  sdk: { program: ['node_modules/typescript/bin/tsc', '-p', 'sdk'], writes: 'sdk/dist' },
  generate: { program: ['schema/build.ts'] },
  format: { program: ['node_modules/oxfmt/bin/oxfmt'] },
};

const say = (text) => process.stderr.write(`${text}\n`);

const fail = (text) => {
  say(`\n${text}`);
  process.exit(1);
};

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch {
    return null;
  }
};

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes its own list into
 * node_modules when it has finished: an install that was cut off has none. Optional packages may be
 * missing, for most belong to other platforms.
 */
const isInstalled = (runtimeOnly) => {
  const wanted = readJson('package-lock.json')?.packages;
  const present = readJson('node_modules/.package-lock.json')?.packages;
  if (!present || !wanted) return Boolean(present);
  // Only images do without: they hold what it has built.
  if (wanted['node_modules/vite'] && !present['node_modules/vite']) return false;
  const same = (path) =>
    present[path].version === wanted[path]?.version &&
    present[path].integrity === wanted[path]?.integrity;
  const mayMiss = (one) => one.optional || one.devOptional || (one.dev && runtimeOnly);
  return Object.keys(wanted).every(
    (path) => path === '' || (present[path] ? same(path) : mayMiss(wanted[path])),
  );
};

const firstLines = (text, count) => text.trim().split('\n').slice(0, count).join('\n');

const hasGroups = process.platform !== 'win32';

const hasEnded = ({ pid, exitCode, signalCode }) =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** To a program and what it has started. */
const signalGroup = (child, signal) => {
  if (hasEnded(child)) return;
  try {
    process.kill(hasGroups ? -child.pid : child.pid, signal);
  } catch {
    // It has ended in between.
  }
};

/**
 * Calls `first` when a stop is asked for by a signal or by `ask`, and `again` when Ctrl-C is
 * pressed after that. It comes before a program is started: Ctrl-C in between would end us alone.
 */
const onStop = (first, again) => {
  let asked_ms = null;
  const ask = (signal) => {
    if (asked_ms === null) {
      asked_ms = performance.now();
      first(signal);
    } else if (signal === 'SIGINT' && performance.now() - asked_ms >= samePress_ms) again();
  };
  for (const signal of stopSignals) process.on(signal, ask);
  return { ask, end: () => stopSignals.forEach((signal) => process.off(signal, ask)) };
};

/**
 * The arguments of npm. What development needs is added to the packages that are there, which a
 * running service may be reading.
 */
const installArgs = (runtimeOnly) => {
  if (!existsSync(join(root, 'package-lock.json'))) return ['install', '--include=dev'];
  if (runtimeOnly) return ['ci', '--omit=dev'];
  return isInstalled(true) ? ['install', '--no-save', '--include=dev'] : ['ci', '--include=dev'];
};

/**
 * Removes what nothing reads: the C headers that come with Node (67 MB); where only the service
 * runs, source maps (77 MB) and the compiler (31 MB), an optional peer of valibot.
 */
const removeUnread = (runtimeOnly) => {
  const packages = join(root, 'node_modules');
  const remove = (path) => rmSync(join(packages, path), { recursive: true, force: true });
  for (const name of readdirSync(packages).filter((folder) => /^node-(?:bin-)?\w+-/.test(folder)))
    remove(join(name, 'include'));
  if (!runtimeOnly) return;
  for (const compiler of ['typescript', '@typescript']) remove(compiler);
  for (const path of readdirSync(packages, { recursive: true }))
    if (/\.(?:[cm]?js|ts|css)\.map$/.test(path)) remove(path);
};

/**
 * Runs npm quietly and prints every few seconds how long it has taken; its own output is shown only
 * when it fails.
 */
const install = async (runtimeOnly) => {
  const began = performance.now();
  const seconds = () => `${Math.round((performance.now() - began) / 1000)} s`;
  const kind = installArgs(runtimeOnly);
  const reason = kind.includes('--no-save')
    ? 'those of development'
    : existsSync(join(root, 'node_modules'))
      ? 'package-lock.json has changed'
      : 'first start';
  say(`Installing packages (${reason}) ...`);
  const quiet = '--no-audit --no-fund --loglevel=error --progress=false'.split(' ');
  // Inside `npm pack --dry-run` npm would do nothing here either.
  const args = [...kind, '--include=optional', ...quiet, '--dry-run=false'];
  // Inside `npm start` npm says where it is; on Windows it could not be started by its name alone.
  const npm = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, process.env.npm_execpath]
    : ['npm'];
  let stopped = false;
  const stopping = onStop(
    () => {
      stopped = true;
      signalGroup(child, 'SIGTERM');
      setTimeout(() => signalGroup(child, 'SIGKILL'), atOnce_ms).unref();
    },
    () => signalGroup(child, 'SIGKILL'),
  );
  const child = spawn(npm[0], [...npm.slice(1), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: hasGroups,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const ticking = setInterval(() => say(`  ... ${seconds()}`), 5_000);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', resolve);
  });
  clearInterval(ticking);
  stopping.end();
  if (stopped) fail('Stopped before the packages were installed.');
  if (code !== 0)
    fail(
      `npm could not install the packages (${code}):\n${firstLines(said, 12)}\nMend that (does "npm ping" answer?) and run the same command again.`,
    );
  removeUnread(runtimeOnly);
  say(`Packages are installed (${seconds()}).`);
};

/** Names a port that another program has before minutes are spent on the packages. */
const refuseTakenPort = async () => {
  const { PORT, HOST: host = '127.0.0.1' } = process.env;
  const port = Number(PORT || 4000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return;
  const server = createServer();
  const code = await new Promise((resolve) => {
    server.once('error', (error) => resolve(error.code));
    server.listen({ port, host }, () => server.close(resolve));
  });
  if (code === 'EADDRINUSE')
    fail(
      `The service cannot listen on ${host}:${port}: another program listens there; stop it, or set PORT to another port.`,
    );
};

const versionOf = (program) => {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
};

/**
 * Whether this program is a Node that is new enough. One that was is remembered: asking it takes as
 * long as starting it.
 */
const isNewEnough = (program) => {
  const remembered = 'node_modules/.cache/node.json';
  const state = `${neededNode} ${statSync(program).mtimeMs}`;
  if (readJson(remembered)?.[program] === state) return true;
  if (versionOf(program) < neededNode) return false;
  try {
    mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
    writeFileSync(join(root, remembered), JSON.stringify({ [program]: state }));
  } catch {
    // A folder that cannot be written.
  }
  return true;
};

/**
 * The Node that npm has installed for this platform, else the one we run on when it is new enough.
 */
const findNode = () => {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const brought = [`node-${platform}`, `node-bin-${platform}`].map((name) =>
    join(root, 'node_modules', name, 'bin', file),
  );
  const found = [...brought.filter(existsSync), process.execPath].find(isNewEnough);
  if (found) return found;
  return fail(
    `This project runs on Node ${neededNode}, which npm brings for Linux, macOS and Windows on common processors.\n` +
      `It brought none that runs on ${platform} (or it was set to leave optional packages out), and this is Node ${process.versions.node}.\n` +
      `Install Node ${neededNode} or newer and run the same command again.`,
  );
};

/**
 * Calls back once npm is gone: killed with -9 it gives no notice, but its orphans get another
 * parent. The scripts in package.json say `exec`, because a shell that stays between npm and us
 * swallows the SIGINT that npm passes on, and leaves us alone on SIGTERM.
 */
const watchNpm = (onGone) => {
  if (!process.env.npm_lifecycle_event) return;
  const looking = setInterval(() => {
    if (process.ppid === startedBy) return;
    clearInterval(looking);
    onGone();
  }, look_ms);
};

/**
 * Runs the program until it ends and ends with its code. It gets a session of its own, so that
 * Ctrl-C, which the terminal sends to everyone at once and npm passes on a second time, reaches it
 * once: through us. A channel to it closes when we stop, however we stop. A second Ctrl-C ends it
 * at once.
 */
const run = (node, { program, drains }, args) => {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
  // What Node has compiled once: it is kept with the packages, and halves what a later start costs.
  const compiled =
    process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled');
  const stopping = onStop(
    (signal) => {
      if (!drains) signalGroup(child, signal);
      else if (child.connected) child.disconnect();
    },
    () => {
      // The service then ends its database with itself; whoever does not listen is killed.
      if (drains && !hasEnded(child)) child.kill('SIGQUIT');
      else signalGroup(child, 'SIGKILL');
      setTimeout(() => signalGroup(child, 'SIGKILL'), atOnce_ms).unref();
    },
  );
  const child = spawn(node, [...program, ...args], {
    cwd: root,
    // The C library keeps the memory of a burst in each of its arenas: two are enough.
    env: { MALLOC_ARENA_MAX: '2', ...process.env, PATH: path, NODE_COMPILE_CACHE: compiled },
    detached: hasGroups,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  watchNpm(() => stopping.ask('SIGTERM'));
  child.once('error', (error) => fail(`${node} cannot be started: ${error.message}`));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
};

const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) fail(`Which command? One of: ${Object.keys(commands).join(', ')}.`);
if (!isInstalled(command.runtimeOnly)) {
  if (command.listens) await refuseTakenPort();
  await install(command.runtimeOnly);
}
const node = findNode();
if (command.console && existsSync(join(root, 'console')))
  await import('./console/sources.mjs').then(({ buildFirst }) => buildFirst(node, say, fail));
if (command.writes) rmSync(join(root, command.writes), { recursive: true, force: true });
run(node, command, args);
