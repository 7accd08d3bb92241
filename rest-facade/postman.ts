/** `/docs/postman.json`: the API as a Postman collection (format 2.1), made of its description. */
import { examplesOf, type Described, type DescribedOperation } from './described.ts';

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** A body as Postman shows and sends it. */
const rawBody = (value: unknown) => ({
  mode: 'raw',
  raw: JSON.stringify(value, null, 2),
  options: { raw: { language: 'json' } },
});

const exampleText = (example: unknown): string =>
  example === undefined || typeof example === 'string' ? (example ?? '') : JSON.stringify(example);

const requestOf = (path: string, method: string, operation: DescribedOperation) => {
  const { parameters, requestBody, description = '' } = operation;
  const of = (place: string) => parameters.filter((one) => one.in === place);
  const segments = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/');
  const [body] = examplesOf(requestBody?.content ?? {});
  return {
    method: method.toUpperCase(),
    description,
    header: [
      ...(body ? [{ key: 'Content-Type', value: 'application/json' }] : []),
      ...of('header').map(({ name, description: about }) => ({
        key: name,
        value: name === 'Idempotency-Key' ? '{{$guid}}' : '',
        description: about,
        disabled: name !== 'Idempotency-Key',
      })),
    ],
    url: {
      raw: `{{base_url}}/${segments.join('/')}`,
      host: ['{{base_url}}'],
      path: segments,
      variable: of('path').map((one) => ({
        key: one.name,
        value: exampleText(one.example),
        description: one.description,
      })),
      // Optional parameters are off until you enable them.
      query: of('query').map((one) => ({
        key: one.name,
        value: exampleText(one.example),
        description: one.description,
        disabled: true,
      })),
    },
    ...(body && { body: rawBody(body.value) }),
  };
};

const itemOf = (path: string, method: string, operation: DescribedOperation) => {
  const request = requestOf(path, method, operation);
  const response = Object.entries(operation.responses).flatMap(([status, answer]) =>
    examplesOf(answer.content ?? {})
      .slice(0, 1)
      .map(({ type, value }) => ({
        name: `${status} ${answer.description}`,
        originalRequest: request,
        code: Number(status),
        header: [{ key: 'Content-Type', value: type }],
        body: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
      })),
  );
  return { name: operation.summary, request, response };
};

/** The collection: a folder for each tag. The key is a variable, so an export does not contain it. */
export const postmanCollection = ({ info, paths, tags }: Described, publicUrl: string) => ({
  info: { name: info.title, description: info.description, version: info.version, schema },
  auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
  variable: [
    { key: 'base_url', value: publicUrl },
    { key: 'api_key', value: '' },
  ],
  item: tags
    .map(({ name, description }) => ({
      name,
      description,
      item: Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([, operation]) => operation.tags.includes(name))
          .map(([method, operation]) => itemOf(path, method, operation)),
      ),
    }))
    .filter(({ item }) => item.length > 0),
});
