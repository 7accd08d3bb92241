/**
 * The functions that verify webhooks, in four languages: as snippets of a guide, and as files below
 * `/docs/webhooks/`. They are the files beside this one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { prepareAnswer, serveMade } from '../fixed-answer.ts';
import type { Block, SnippetLanguage } from '../guides/snippets.ts';

/** One language: its file, and how the function is called where a webhook arrives. */
interface Language {
  readonly language: SnippetLanguage;
  readonly file: string;
  readonly use: string;
}

const languages: readonly Language[] = [
  {
    language: 'ts',
    file: 'verify-webhook.ts',
    use: `app.post('/hook', express.raw({ type: '*/*' }), (request, response) => {
  if (!verifyWebhook(request.body, request.get('X-PSP-Signature') ?? '', process.env.WEBHOOK_SECRET)) return response.sendStatus(400);
  const { id, event, data } = JSON.parse(request.body);
  // Skip an id that you have handled already; answer 2xx within 15 seconds.
  response.sendStatus(200);
});`,
  },
  {
    language: 'py',
    file: 'verify_webhook.py',
    use: `@app.post("/hook")
def hook():
    if not verify_webhook(request.get_data(), request.headers.get("X-PSP-Signature", ""), os.environ["WEBHOOK_SECRET"]):
        return "", 400
    event = json.loads(request.get_data())
    return "", 200`,
  },
  {
    language: 'php',
    file: 'verify-webhook.php',
    use: `$body = file_get_contents('php://input');
if (!verify_webhook($body, $_SERVER['HTTP_X_PSP_SIGNATURE'] ?? '', getenv('WEBHOOK_SECRET'))) {
    http_response_code(400);
    exit;
}
$event = json_decode($body, true);`,
  },
  {
    language: 'go',
    file: 'verify_webhook.go',
    use: `body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
if err != nil || !webhook.Verify(body, r.Header.Get("X-PSP-Signature"), os.Getenv("WEBHOOK_SECRET"), webhook.Tolerance, time.Now()) {
	w.WriteHeader(http.StatusBadRequest)
	return
}`,
  },
];

const standardUse = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_..., shown beside whs_... when the endpoint is made

app.post('/hook', express.raw({ type: '*/*' }), (request, response) => {
  const { id, event, data } = webhook.verify(request.body, request.headers); // throws when it is not genuine
  response.sendStatus(200);
});`;

const sourceOf = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

const block = (name: string, language: SnippetLanguage, code: string): Block => ({
  language,
  name,
  code: code.trimEnd(),
  values: [],
  refused: null,
  isBackground: false,
});

/** The snippets of the guide about verifying. A test runs the functions. */
export const verifierSnippets = (): readonly Block[] => [
  ...languages.map(({ language, file }) => block('verifier', language, sourceOf(file))),
  ...languages.map(({ language, use }) => block('receiving', language, use)),
  block('standard', 'ts', standardUse),
];

/** What a plain text file is served with. */
const fileHeaders = (cacheControl: string): Readonly<Record<string, string>> => ({
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': cacheControl,
  'content-type': 'text/plain; charset=utf-8',
});

/** Serves each function as a file to download; none needs a key. */
export const serveVerifiers = (app: FastifyInstance, cacheControl: string): void => {
  for (const { file } of languages)
    serveMade(app, `/docs/webhooks/${file}`, () =>
      prepareAnswer(sourceOf(file), fileHeaders(cacheControl)),
    );
};
