/**
 * Stock Apollo over subgraphs in another process at SUBGRAPHS: Apollo Server, ApolloGateway and its
 * RemoteGraphQLDataSource, as anybody would run it.
 */
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, HeaderMap } from '@apollo/server';
import fastify from 'fastify';
import { subgraphPath } from '../../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import type { SubgraphName } from '../../../schema/sources.ts';
import { serve } from '../child-server.ts';
import { silent, supergraphSdl } from './constant-graph.ts';

const { SUBGRAPHS = '' } = process.env;
const gateway = new ApolloGateway({
  supergraphSdl,
  logger: silent,
  buildService: ({ name }) =>
    new RemoteGraphQLDataSource({ url: `${SUBGRAPHS}${subgraphPath(name as SubgraphName)}` }),
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
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', headers, search: '', body: request.body },
    context: async () => ({}),
  });
  if (answer.body.kind === 'chunked') throw new Error('an answer in parts');
  for (const [name, value] of answer.headers) reply.header(name, value);
  return reply.code(answer.status ?? 200).send(answer.body.string);
});
await serve(app);
