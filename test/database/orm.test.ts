/** The ORM beside the statements written by hand: one pool, one transaction, one trace. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { after, before, describe, test } from 'node:test';
import {
  ShopEntity,
  MerchantEntity,
  AuditEntryEntity,
} from '../../subgraphs/platform/database/entities.ts';
import { isDatabaseLost } from '../../subgraphs/platform/tracing/error-code.ts';
import { clientOf } from '../../subgraphs/platform/database/orm-connections.ts';
import {
  spanned,
  traceBy,
  type Span,
  type Tracing,
} from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  changeEntities,
  type Acting,
  type AuditedAction,
} from '../../subgraphs/platform/database/audit.ts';
import { profileOf } from '../../subgraphs/merchants/rules/merchant.ts';
import { createMerchant } from '../../subgraphs/merchants/change-merchant.ts';
import { sealedColumns } from '../../subgraphs/merchants/reseal-secrets.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const acting = (): Acting => ({
  principal: { kind: 'service', name: 'test' },
  requestId: 'test',
  now: () => Temporal.Now.instant(),
});

const nameOf = async (id: string): Promise<unknown> =>
  (await migrated.database.pool.query('select name from merchant where id = $1', [id])).rows[0]
    ?.name;

const audited = (id: string): AuditedAction => ({
  action: 'merchant.rename',
  merchantId: id,
  id,
});

describe('a transaction of the ORM', () => {
  test('is that of the statements written by hand which its client sends, to the end', async () => {
    const { merchantId: id } = await migrated.merchant();
    const { database } = migrated;
    const changing = changeEntities(database, acting(), audited(id), async (em) => {
      const merchant = await em.findOneOrFail(MerchantEntity, { id });
      merchant.name = 'By the ORM';
      await em.flush();
      const client = await clientOf(em);
      const { rows } = await client.query('select name from merchant where id = $1', [id]);
      assert.deepEqual(rows, [{ name: 'By the ORM' }]);
      await client.query("update merchant set name = 'By hand' where id = $1", [id]);
      const [seen] = await em.find(MerchantEntity, { id }, { refresh: true });
      assert.equal(seen?.name, 'By hand');
      throw new Error('the disk is full');
    });
    await assert.rejects(changing, /the disk is full/);
    assert.equal(await nameOf(id), 'Merchant');
  });

  test('has no client outside of it', async () => {
    await assert.rejects(clientOf(migrated.database.fork()), /no transaction/);
  });

  test('gives its connection back, whatever ended it', async () => {
    const { database } = migrated;
    for (let index = 0; index < 40; index += 1) {
      const failing = database.fork().transactional((em) => em.execute('select 1 / 0'));
      await assert.rejects(failing, { code: '22012' });
    }
    assert.equal(database.pool.totalCount, database.pool.idleCount);
  });

  test('that loses its connection is known as lost, and the connection is not used again', async () => {
    const { database } = migrated;
    const lost = database.fork().transactional(async (em) => {
      const client = await clientOf(em);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await em.execute('select 1');
    });
    await assert.rejects(lost, (error) => isDatabaseLost(error));
    assert.deepEqual((await database.pool.query('select 1 as one')).rows, [{ one: 1 }]);
    assert.equal(database.pool.totalCount, database.pool.idleCount, 'its place is free');
  });
});

describe('an entity', () => {
  test("that is written twice is refused with PostgreSQL's code", async () => {
    const { merchantId: id } = await migrated.merchant();
    const twice = changeEntities(migrated.database, acting(), audited(id), async (em) =>
      em.create(MerchantEntity, {
        id,
        name: 'Twice',
        liveEnabled: false,
        ratePerSecond: null,
        rateBurst: null,
        createdAt: Temporal.Now.instant(),
      }),
    );
    await assert.rejects(twice, (error: Error & { code?: string }) => {
      assert.equal(error.code, '23505');
      assert.doesNotMatch(inspect(error), new RegExp(id), 'an error reveals nothing of the row');
      return true;
    });
  });

  test('that is audited cannot be written without its entry', async () => {
    const { merchantId: id } = await migrated.merchant();
    const unrecorded = migrated.database.fork().transactional(async (em) => {
      const merchant = await em.findOneOrFail(MerchantEntity, { id });
      merchant.name = 'Unseen';
    });
    await assert.rejects(unrecorded, /Merchant is to leave an audit entry/);
    assert.equal(await nameOf(id), 'Merchant');
  });

  test('that was only read is not written', async () => {
    const { merchantId: id } = await migrated.merchant();
    const em = migrated.database.fork();
    const read = [
      ...(await em.find(MerchantEntity, { id })),
      ...(await em.find(ShopEntity, { merchantId: id })),
      ...(await em.find(AuditEntryEntity, { merchantId: id })),
    ];
    assert.equal(read.length, 4);
    em.getUnitOfWork().computeChangeSets();
    assert.deepEqual(em.getUnitOfWork().getChangeSets(), []);
  });

  test('shows no sealed secret in the audit log', () => {
    const seen: string[] = [];
    for (const meta of migrated.database.orm.getMetadata().getAll().values()) {
      for (const { name, fieldNames, hidden, groups, serializer } of meta.props) {
        const [column = name] = fieldNames ?? [];
        if (!sealedColumns.some(([table, sealed]) => table === meta.tableName && sealed === column))
          continue;
        seen.push(`${meta.tableName}.${column}`);
        assert.ok(hidden || serializer || !groups, `${meta.tableName}.${column} is shown`);
      }
    }
    assert.equal(seen.length, sealedColumns.length);
  });

  test('is managed by one manager within a call, and by another in the next', () => {
    const [one, other] = [acting(), acting()];
    const { database } = migrated;
    assert.equal(database.emOf(one), database.emOf(one));
    assert.notEqual(database.emOf(one), database.emOf(other));
  });
});

test('statements of the ORM are spans named by table and verb, without what they hold', async () => {
  const names: string[] = [];
  const span: Span = {
    traceId: '1',
    traceparent: '00-1-1-01',
    isKept: true,
    note: () => {},
    fail: () => {},
    end: () => {},
  };
  const tracing: Tracing = {
    begin: ({ name }) => (names.push(name), span),
    within: (_, work) => work(),
    current: () => span,
    close: async () => {},
  };
  traceBy(tracing);
  try {
    await spanned({ kind: 'internal', name: 'change' }, () =>
      createMerchant(migrated.database, acting(), `from "secret" ${randomUUID()}`, profileOf({})),
    );
  } finally {
    traceBy(null);
  }
  assert.deepEqual(names, [
    'change',
    'sql begin',
    'sql merchant.insert',
    'sql books_check.insert',
    'sql audit_entry.insert',
    'sql commit',
  ]);
});
