/**
 * The documents that a session of the console may run: those of the console itself, by their names.
 * A stolen cookie can run only these; documents of one's own are for
 * bearers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLError } from 'graphql';
import { object, parse, record, string } from 'valibot';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { codedError } from './coded-error.ts';

/** A request of the console: which operation, and of which version of the page. */
interface NamedRequest {
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

const manifest = object({ version: string(), operations: record(string(), string()) });

const readManifest = lazily(() =>
  parse(
    manifest,
    JSON.parse(
      readFileSync(
        join(import.meta.dirname, '../../schema/generated/console-operations.json'),
        'utf8',
      ),
    ),
  ),
);

/**
 * The text of the operation that is named; an error for a page of another version, and for what is
 * no operation of the console.
 */
export const consoleDocument = ({
  operationName,
  extensions,
}: NamedRequest): string | GraphQLError => {
  const { version } = readManifest();
  if (extensions?.['console'] !== version)
    return codedError('console_outdated', 'This page is from another version: reload it.');
  return (
    consoleOperation(operationName ?? '') ??
    codedError('bad_request', 'A session runs only the operations of the console.')
  );
};

/** The version of the console's operations, which a page names with each of them. */
export const consoleVersion = (): string => readManifest().version;

/** The text of an operation of the console, for any page; null if there is none. */
export const consoleOperation = (name: string): string | null => {
  const { operations } = readManifest();
  return Object.hasOwn(operations, name) ? (operations[name] ?? null) : null;
};
