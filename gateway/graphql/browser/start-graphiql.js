/**
 * Starts GraphiQL on `/graphql`. The bundle's own transport sends no key with a subscription, so
 * the two ways to the server stand here: queries and mutations over HTTP, subscriptions over a
 * WebSocket, both with the headers that the person has put into the editor.
 */

/**
 * @typedef {object} Asked
 * @property {string} query
 * @property {string | null} [operationName]
 * @property {Record<string, unknown>} [variables]
 */
/** @typedef {{ headers?: Record<string, string> }} Options */
/**
 * @typedef {{
 *   next(result: unknown): void, error(reason: unknown): void, complete(): void
 * }} Observer
 */

const address = new URL('/graphql', location.href);

/**
 * @param {Asked} asked
 * @param {Record<string, string>} headers
 */
const ask = async (asked, headers) => {
  const response = await fetch(address, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(asked),
  });
  return response.json();
};

/**
 * One subscription on a socket of its own, by the protocol graphql-transport-ws.
 * @param {Asked} asked
 * @param {Record<string, string>} headers
 */
const follow = (asked, headers) => ({
  /** @param {Observer} observer */
  subscribe: (observer) => {
    const socket = new WebSocket(address.href.replace(/^http/, 'ws'), 'graphql-transport-ws');
    /** @param {object} message */
    const say = (message) => socket.send(JSON.stringify(message));
    const [, authorization] =
      Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
    socket.addEventListener('open', () =>
      say({ type: 'connection_init', payload: { authorization } }),
    );
    socket.addEventListener('message', ({ data }) => {
      const { type, payload } = JSON.parse(data);
      if (type === 'connection_ack') say({ type: 'subscribe', id: '1', payload: asked });
      else if (type === 'ping') say({ type: 'pong' });
      else if (type === 'next') observer.next(payload);
      else if (type === 'error') observer.next({ errors: payload });
      else if (type === 'complete') socket.close(1_000);
    });
    socket.addEventListener('close', ({ code, reason }) =>
      code === 1_000
        ? observer.complete()
        : observer.error(new Error(`The socket was closed: ${code} ${reason}`)),
    );
    return { unsubscribe: () => socket.close(1_000) };
  },
});

/**
 * Whether the operation to run is a subscription, read off the text: what GraphiQL knows of it
 * comes later than the person may press the button.
 * @param {Asked} asked
 */
const isSubscription = ({ query, operationName }) => {
  const bare = query.replace(/"""[^]*?"""|"(?:\\.|[^"\\])*"|#.*/g, '');
  let outside = '';
  let depth = 0;
  for (const sign of bare) {
    if (sign === '{' || sign === '(') depth += 1;
    outside += depth === 0 ? sign : ' ';
    if (sign === '}' || sign === ')') depth -= 1;
  }
  const subscriptions = Array.from(
    outside.matchAll(/\bsubscription\b\s*(\w*)/g),
    ([, name]) => name,
  );
  return operationName ? subscriptions.includes(operationName) : subscriptions.length > 0;
};

const example = `# Put the operator token or an API key under Headers, then fetch the schema anew (the arrows on the left).
subscription {
  paymentStatusChanged {
    payload
    payment {
      publicId
      amount
      shop {
        name
      }
    }
  }
}
`;

/**
 * Workers of the editor, by the names that it has for them.
 * @type {Readonly<Record<string, string>>}
 */
const workers = {
  editorWorkerService: 'editor-worker.js',
  json: 'json-worker.js',
  graphql: 'graphql-worker.js',
};
const version = new URL(import.meta.url).search;

Object.assign(self, {
  MonacoEnvironment: {
    globalAPI: false,
    /**
     * @param {string} _module
     * @param {string} label
     */
    getWorkerUrl: (_module, label) => `/graphql/graphiql/${workers[label]}${version}`,
  },
});

/**
 * What the bundle leaves in the page.
 * @type {{ renderYogaGraphiQL(root: Element | null, options: object): void }}
 */
const bundle = Reflect.get(self, 'YogaGraphiQL');
bundle.renderYogaGraphiQL(document.querySelector('#root'), {
  title: 'Payment service',
  logo: '',
  query: example,
  headers: '{\n  "Authorization": "Bearer <operator token or API key>"\n}',
  // The key stays in the page: it is not kept in the browser's storage.
  shouldPersistHeaders: false,
  /**
   * @param {Asked} asked
   * @param {Options} [options]
   */
  fetcher: (asked, { headers = {} } = {}) =>
    isSubscription(asked) ? follow(asked, headers) : ask(asked, headers),
});
