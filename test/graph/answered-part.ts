/**
 * Asking for everything, and being answered what one may see: a field that is refused takes what
 * stands around it with it, so it is left out.
 */
import { visit, type DocumentNode, type ExecutionResult, type GraphQLError } from 'graphql';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import type { EveryField } from './every-field.ts';

const pathOf = ({ path }: GraphQLError): string =>
  (path ?? []).filter((step) => typeof step === 'string').join('.');

/** The document without the fields at these paths. */
const without = (document: DocumentNode, paths: ReadonlySet<string>): DocumentNode => {
  const above: string[] = [];
  return visit(document, {
    Field: {
      enter: ({ name, alias }) => {
        above.push((alias ?? name).value);
        if (!paths.has(above.join('.'))) return undefined;
        above.pop();
        return null;
      },
      leave: () => void above.pop(),
    },
  });
};

const parts = new WeakMap<DocumentNode, Map<string, DocumentNode>>();

/** The same, once for a document and its paths: what comes again is not planned again. */
const partWithout = (document: DocumentNode, paths: ReadonlySet<string>): DocumentNode => {
  const known = parts.get(document) ?? new Map<string, DocumentNode>();
  parts.set(document, known);
  const name = [...paths].toSorted().join(' ');
  const part = known.get(name) ?? without(document, paths);
  known.set(name, part);
  return part;
};

/**
 * Asks, leaves out what was refused or failed and asks again, until the rest is answered or nothing
 * is left. Gives all answers, and the last document.
 */
export const askAnsweredPart = async (
  supergraph: Pick<Supergraph, 'execute'>,
  { document, variables }: Pick<EveryField, 'document' | 'variables'>,
  principal: Principal,
) => {
  const answers: ExecutionResult[] = [];
  for (let left = document; ;) {
    const answer = await supergraph.execute(
      { document: left, variables },
      { principal, requestId: 'r', isInLane: true },
    );
    answers.push(answer);
    const refused = new Set((answer.errors ?? []).map(pathOf));
    if (refused.size === 0 || [...refused].some((path) => !path.includes('.')))
      return { answers, document: left };
    left = partWithout(left, refused);
  }
};
