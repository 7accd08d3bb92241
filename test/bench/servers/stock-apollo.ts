/**
 * The same operations as anybody would serve them: Apollo Server, ApolloGateway and its
 * LocalGraphQLDataSource, a document with each request.
 */
import { ApolloGateway, LocalGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, HeaderMap } from '@apollo/server';
import fastify from 'fastify';
import { subgraphNames } from '../../../schema/sources.ts';
import { serve } from '../child-server.ts';
import { constantSchema, principal, silent, supergraphSdl } from './constant-graph.ts';

const sources = new Map<string, LocalGraphQLDataSource>(
  subgraphNames.map((name) => [name, new LocalGraphQLDataSource(constantSchema(name))]),
);
const gateway = new ApolloGateway({
  supergraphSdl,
  logger: silent,
  buildService: ({ name }) => {
    const source = sources.get(name);
    if (!source) throw new Error(`there is no subgraph ${name}`);
    return source;
  },
});
const apollo = new ApolloServer({
  gateway,
  logger: silent,
  includeStacktraceInErrorResponses: false,
  stopOnTerminationSignals: false,
});
await apollo.start();

const app = fastify();
app.post('/graphql', async (request, reply) => {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string') headers.set(name, value);
  const {
    status,
    headers: sent,
    body,
  } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', headers, search: '', body: request.body },
    context: async () => ({ principal, requestId: request.id }),
  });
  if (body.kind === 'chunked') throw new Error('an answer in parts');
  for (const [name, value] of sent) reply.header(name, value);
  return reply.code(status ?? 200).send(body.string);
});
await serve(app);
