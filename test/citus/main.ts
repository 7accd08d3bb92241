/**
 * `npm run test:citus`: the tables spread over a real Citus; on them every statement of the
 * program, their upkeep, relays that are killed, every scenario, and what spreading costs. Names of
 * files after it run these alone. CITUS_BIN is the folder of a PostgreSQL's programs that has Citus
 * among its libraries.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pipeline } from 'node:stream/promises';
import { findOutsidePrograms } from '../support/outside-programs.ts';

const howTo = `CITUS_BIN is not set, or has no postgres in it: nothing was tested.

It is the folder of the programs of a PostgreSQL that has Citus among its libraries, say
/usr/lib/postgresql/15/bin. A package of Citus brings it, or it is built from source:

  apt-get install postgresql-server-dev-15 build-essential flex libcurl4-openssl-dev \\
    liblz4-dev libzstd-dev libicu-dev libkrb5-dev libssl-dev libxml2-dev
  git clone --branch v13.2.2 https://github.com/citusdata/citus && cd citus
  PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config ./configure --without-libcurl
  make extension && make install-all

Debian's PostgreSQL 15.20 has a function with the name of one of Citus 13.2.2: rename
have_createdb_privilege in its sources where the build names it.
`;

const bin = process.env['CITUS_BIN'];
if (bin === undefined || !existsSync(join(bin, 'postgres'))) {
  process.stdout.write(howTo);
  process.exitCode = 1;
} else {
  findOutsidePrograms(false);
  const given = process.argv.slice(2);
  const names =
    given.length > 0 ? given : ['statements', 'upkeep', 'relay', 'scenarios', 'console', 'rates'];
  const events = run({
    files: names.map((name) => join(import.meta.dirname, `${name}.ts`)),
    // What is measured has the machine to itself.
    concurrency: 1,
    execArgv: ['--test-timeout=1200000'],
  });
  events.on('test:fail', () => (process.exitCode = 1));
  await pipeline(events, new spec(), process.stdout, { end: false });
}
