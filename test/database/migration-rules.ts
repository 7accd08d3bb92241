/**
 * What a migration may not do to a table that exists: everything that would stop the running
 * service, or break the version of it that still runs. A statement is judged by its text, in the
 * order of its migration: what it does to tables that the same migration makes is free, and so are
 * renames behind a view that keeps the old names.
 * docs/operations.md says how it is done instead.
 */

/** A migration as it is judged. */
export interface JudgedMigration {
  readonly name: string;
  readonly statements: readonly string[];
  readonly isTransactional: boolean;
}

interface Rule {
  readonly refuses: RegExp;
  readonly why: string;
  /** Present: a statement that matches it is let through. */
  readonly unless?: RegExp;
  /**
   * Whether a migration whose name says `contract` may do it: one release after the last program
   * that needed what is taken away.
   */
  readonly inContract?: boolean;
}

/** The table of an `alter table`, `create index`, `update` and the like; the first group. */
const tableOf =
  /\b(?:alter table(?: only)?(?: if exists)?|\bon(?: only)?|update(?: only)?|delete from|truncate(?: table)?|drop table(?: if exists)?)\s+"?([a-z_]+(?:\.[a-z_]+)?)"?/;

const rules: readonly Rule[] = [
  {
    refuses: /^create (unique )?index (?!concurrently)/,
    // That of a partitioned table alone reads no rows: its partitions get theirs one by one.
    unless: / on only /,
    why: 'makes an index without concurrently: the table takes no writes meanwhile',
  },
  { refuses: /^drop index (?!concurrently)/, why: 'drops an index without concurrently' },
  { refuses: /^reindex (?!.*concurrently)/, why: 'makes an index anew without concurrently' },
  {
    refuses: /\badd column\b[^,]*\bdefault [a-z_.]+\s*\(/,
    unless: /\bdefault now\(\)/,
    why: 'adds a column with a default that differs from row to row: the table is written anew',
  },
  {
    refuses: /\badd column\b[^,]*\b(big|small)?serial\b|\bgenerated (always|by default) as/,
    why: 'adds a column that is computed for every row: the table is written anew',
  },
  {
    refuses: /\badd column\b[^,]*\bnot null\b/,
    why: 'adds a column that may not be empty: whole rows that the running program writes have nothing there, whatever its default',
  },
  {
    refuses: /\badd constraint\b(?!.*\bnot valid\b)(?!.*\busing index\b)/,
    why: 'adds a constraint that is checked at once: add it not valid, validate it in a migration of its own',
  },
  {
    refuses: /\badd (check|foreign key|unique|primary key)\b/,
    why: 'adds a constraint without a name',
  },
  {
    refuses: /\balter column [a-z_"]+ (set data )?type\b/,
    why: 'changes the type of a column: add another one, fill it in batches, change over',
  },
  {
    refuses: /\brename\b/,
    why: 'renames what the running program calls by its name, without a view under the old name',
  },
  { refuses: /\bset schema\b/, why: 'moves what the running program calls by its name' },
  {
    refuses: /\bdrop column\b/,
    inContract: true,
    why: 'drops a column that the running program may read',
  },
  {
    refuses: /^drop (table|view|function|sequence|schema|type)\b/,
    inContract: true,
    why: 'drops what the running program may use',
  },
  {
    refuses: /\bdrop default\b/,
    inContract: true,
    why: 'takes a default away that the running program may rely on',
  },
  {
    refuses: /^(with .*)?\b(update|delete from)\b|^insert .*\bselect\b.*\bfrom [a-z]/,
    why: 'rewrites rows in the transaction of the migration: a job does it in batches',
  },
  {
    refuses: /^(truncate|lock|cluster|vacuum full|refresh materialized view (?!concurrently))\b/,
    why: 'locks a table for as long as it takes',
  },
  { refuses: /\bset (un)?logged\b|\bset tablespace\b/, why: 'writes the table anew' },
];

const normal = (statement: string): string =>
  statement.replaceAll(/--.*$/gm, ' ').replaceAll(/\s+/g, ' ').trim().toLowerCase();

/** The tables that a migration makes: they are not in use yet. */
const madeBy = (statements: readonly string[]): ReadonlySet<string> =>
  new Set(
    statements.flatMap(
      (statement) =>
        /^create table (?:if not exists )?"?([a-z_]+(?:\.[a-z_]+)?)"?/.exec(statement)?.[1] ?? [],
    ),
  );

/**
 * A view that PostgreSQL writes through: columns of one table, under these or other names, and
 * nothing else.
 */
const plainView =
  /^create view "?([a-z_]+)"? as select ((?:[a-z_]+(?: as [a-z_]+)?(?:, )?)+) from "?([a-z_]+)"?$/;

/**
 * The renames that the running program does not see, because a view of the same migration has the
 * old name of the table with the old names of its columns. No statement names an index.
 */
const hiddenRenames = (statements: readonly string[]): ReadonlySet<string> => {
  const views = statements.flatMap((statement) => {
    const [, name = '', columns = '', table = ''] = plainView.exec(statement) ?? [];
    return name === '' ? [] : [{ name, table, columns: columns.split(', ') }];
  });
  const isHidden = (statement: string): boolean => {
    const [, old, renamed] = /^alter table ([a-z_]+) rename to ([a-z_]+)$/.exec(statement) ?? [];
    if (renamed) return views.some(({ name, table }) => name === old && table === renamed);
    const [, of, from, to] =
      /^alter table ([a-z_]+) rename column ([a-z_]+) to ([a-z_]+)$/.exec(statement) ?? [];
    if (to)
      return views.some((view) => view.table === of && view.columns.includes(`${to} as ${from}`));
    const [, table] = /^alter table ([a-z_]+) rename constraint /.exec(statement) ?? [];
    if (table) return views.some((view) => view.table === table);
    return /^alter index [a-z_]+ rename to [a-z_]+$/.test(statement);
  };
  return new Set(statements.filter(isHidden));
};

/**
 * `set not null` is free when a check that was validated before says the same: PostgreSQL then
 * reads nothing.
 */
const mayBeNotNull = (
  statement: string,
  table: string | undefined,
  validated: ReadonlySet<string>,
): boolean => {
  const columns = [...statement.matchAll(/\balter column "?([a-z_]+)"? set not null\b/g)].map(
    ([, column]) => column,
  );
  return columns.every((column) => validated.has(`${table}_${column}_present`));
};

const judgeOne = (
  { name, isTransactional }: JudgedMigration,
  statement: string,
  validated: ReadonlySet<string>,
): string[] => {
  const mistakes = rules
    .filter(
      ({ refuses, unless, inContract }) =>
        refuses.test(statement) &&
        !unless?.test(statement) &&
        !(inContract === true && /_contract_/.test(name)),
    )
    .map(({ why }) => why);
  if (
    /\bset not null\b/.test(statement) &&
    !mayBeNotNull(statement, tableOf.exec(statement)?.[1], validated)
  ) {
    mistakes.push(
      'forbids nulls without a validated check <table>_<column>_present: every row is read under the lock',
    );
  }
  if (/\bconcurrently\b/.test(statement) && isTransactional)
    mistakes.push('does concurrently what a transaction cannot: isTransactional() must be false');
  return mistakes;
};

/**
 * The index of a partition, made again from its beginning when the migration was cut short: its
 * program leaves out the partitions that have theirs.
 */
const indexesPartitions =
  /^drop index concurrently if exists [a-z_.]+; create (unique )?index concurrently [^;]+; alter index [a-z_]+ attach partition [a-z_.]+$/;

/**
 * The mistakes of migrations, in their order, each with its migration and statement; empty when
 * none would stop or break what runs.
 */
export const judgeMigrations = (migrations: readonly JudgedMigration[]): readonly string[] => {
  const validated = new Set<string>();
  const mistakes: string[] = [];
  for (const migration of migrations) {
    const statements = migration.statements.map(normal);
    const made = madeBy(statements);
    const received = (statement: string, why: string) =>
      mistakes.push(`${migration.name}: ${why}: ${statement}`);
    if (
      !migration.isTransactional &&
      statements.length > 1 &&
      !indexesPartitions.test(statements.join('; '))
    )
      received(statements.join('; '), 'is not transactional, so it may have one statement alone');
    const added = new Set(
      statements.flatMap(
        (statement) => /\badd constraint "?([a-z_]+)"? .*\bnot valid\b/.exec(statement)?.[1] ?? [],
      ),
    );
    const hidden = new Set(migration.isTransactional ? hiddenRenames(statements) : []);
    for (const statement of statements) {
      if (hidden.has(statement)) continue;
      const check = /\bvalidate constraint "?([a-z_]+)"?/.exec(statement)?.[1];
      if (check !== undefined && added.has(check))
        received(statement, 'validates in the transaction that adds, and so under its lock');
      if (made.has(tableOf.exec(statement)?.[1] ?? '')) continue;
      for (const why of judgeOne(migration, statement, validated)) received(statement, why);
      if (check !== undefined) validated.add(check);
    }
  }
  return mistakes;
};
