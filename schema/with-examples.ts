/**
 * Puts the examples of `schema/examples.yaml` into the description of the API: into each answer that
 * has none of its own, by the name of its schema or else of its operation, and into each webhook.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';

interface Content {
  readonly schema: { readonly $ref?: string };
  example?: unknown;
  readonly examples?: unknown;
}
interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Content>>;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Answer>>;
  requestBody?: { readonly $ref: string };
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Answer>>;
    requestBodies?: Readonly<Record<string, Required<Pick<Answer, 'content'>>>>;
  };
}
interface Examples {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly events: Readonly<Record<string, unknown>>;
}

const readYaml = (name: string): unknown =>
  parseYaml(readFileSync(join(import.meta.dirname, name), 'utf8'), {
    merge: true,
    maxAliasCount: -1,
  });

const lastName = (reference: string): string => reference.split('/').at(-1) ?? reference;

const take = (from: Readonly<Record<string, unknown>>, name: string, used: Set<string>) => {
  if (!(name in from)) throw new Error(`schema/examples.yaml has no example of ${name}`);
  used.add(name);
  return from[name];
};

const fillAnswers = ({ paths, components }: Description, { answers }: Examples): void => {
  const used = new Set<string>();
  const fill = ({ content }: Answer, otherName: string): void => {
    for (const one of Object.values(content ?? {}))
      if (!one.example && !one.examples)
        one.example = take(answers, one.schema.$ref ? lastName(one.schema.$ref) : otherName, used);
  };
  for (const item of Object.values(paths))
    for (const { operationId, responses } of Object.values(item))
      for (const answer of Object.values(responses)) fill(answer, operationId);
  for (const [name, answer] of Object.entries(components.responses)) fill(answer, name);
  const unused = Object.keys(answers).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`no answer has the examples ${unused.join(', ')}`);
};

/** A webhook's body is one for all events of an object; its example is the event's own. */
const fillWebhooks = ({ webhooks, components }: Description, { events }: Examples): void => {
  const used = new Set<string>();
  const bodies = components.requestBodies ?? {};
  delete components.requestBodies;
  for (const [event, { post }] of Object.entries(webhooks)) {
    const body = bodies[lastName(post.requestBody?.$ref ?? '')];
    if (!body) throw new Error(`the webhook ${event} has no body`);
    const example = {
      id: 'evt_5d1f0c7a-3e2b-4c19-8f64-0b7d9e2a6c51',
      event,
      created_at: '2026-05-06T12:00:05.000Z',
      data: take(events, event, used),
    };
    const content: Record<string, Content> = {};
    for (const [type, { schema }] of Object.entries(body.content))
      content[type] = { schema, example };
    Object.assign(post, { requestBody: { ...body, content } });
  }
};

/** The description of the API, with an example of everything. Throws where one lacks. */
export const descriptionWithExamples = (): unknown => {
  // A test holds both files to the OpenAPI schema.
  const description = readYaml('openapi.yaml') as Description;
  const examples = readYaml('examples.yaml') as Examples;
  fillAnswers(description, examples);
  fillWebhooks(description, examples);
  return description;
};
