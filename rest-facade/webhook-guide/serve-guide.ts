/**
 * `/docs/webhooks/`: how a merchant verifies webhooks, with a function to copy in four languages.
 * The functions are the files beside this one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { prepareAnswer, sendAnswer } from '../fixed-answer.ts';
import { codeBlock, fileHeaders } from '../guide-page.ts';
import { serveOtherPage } from '../guides/serve-guides.ts';

const path = '/docs/webhooks/';

/** One language: its file, and how the function is called where a webhook arrives. */
interface Language {
  readonly name: string;
  readonly file: string;
  readonly use: string;
}

const languages: readonly Language[] = [
  {
    name: 'TypeScript',
    file: 'verify-webhook.ts',
    use: `app.post('/hook', express.raw({ type: '*/*' }), (request, response) => {
  if (!verifyWebhook(request.body, request.get('X-PSP-Signature') ?? '', process.env.WEBHOOK_SECRET)) return response.sendStatus(400);
  const { id, event, data } = JSON.parse(request.body);
  // Skip an id that you have handled already; answer 2xx within 15 seconds.
  response.sendStatus(200);
});`,
  },
  {
    name: 'Python',
    file: 'verify_webhook.py',
    use: `@app.post("/hook")
def hook():
    if not verify_webhook(request.get_data(), request.headers.get("X-PSP-Signature", ""), os.environ["WEBHOOK_SECRET"]):
        return "", 400
    event = json.loads(request.get_data())
    return "", 200`,
  },
  {
    name: 'PHP',
    file: 'verify-webhook.php',
    use: `$body = file_get_contents('php://input');
if (!verify_webhook($body, $_SERVER['HTTP_X_PSP_SIGNATURE'] ?? '', getenv('WEBHOOK_SECRET'))) {
    http_response_code(400);
    exit;
}
$event = json_decode($body, true);`,
  },
  {
    name: 'Go',
    file: 'verify_webhook.go',
    use: `body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
if err != nil || !webhook.Verify(body, r.Header.Get("X-PSP-Signature"), os.Getenv("WEBHOOK_SECRET"), webhook.Tolerance, time.Now()) {
	w.WriteHeader(http.StatusBadRequest)
	return
}`,
  },
];

const introduction = `<h1>Verifying webhooks</h1>
<p>Anybody can post to your address. A delivery is genuine when its <code>X-PSP-Signature</code> fits its body and your endpoint's secret (<code>whs_...</code>, the whole text is the key).</p>
<div class="wide" tabindex="0" role="group" aria-label="Formats"><table><tr><th scope="col">endpoint</th><th scope="col">header</th><th scope="col">what is signed (HMAC-SHA256, lowercase hex)</th></tr>
<tr><td>usual</td><td><code>t=&lt;unix seconds&gt;,v1=...,v2=...</code></td><td><code>v2</code>: <code>&lt;t&gt;.&lt;raw body&gt;</code>; <code>v1</code>: the raw body</td></tr>
<tr><td>marked <code>stripe</code></td><td>the same</td><td>both: <code>&lt;t&gt;.&lt;raw body&gt;</code>, as Stripe's own libraries verify it</td></tr>
<tr><td>marked <code>standard</code></td><td><code>webhook-signature: v1,&lt;base64&gt;</code> with <code>webhook-id</code> and <code>webhook-timestamp</code></td><td><code>&lt;id&gt;.&lt;timestamp&gt;.&lt;raw body&gt;</code>, as the libraries of Standard Webhooks verify it; <code>X-PSP-Signature</code> is not sent</td></tr>
<tr><td>marked <code>legacy</code></td><td><code>sha256=...</code></td><td>the raw body; there is no timestamp</td></tr></table></div>
<ul>
<li>Verify the bytes as they came. A body that was parsed and written again is another body.</li>
<li>Take <code>v2</code>, and refuse what is more than five minutes old: <code>v1</code> and the legacy format do not say when they were made.</li>
<li>Accept the one format that your endpoint has. Who accepts both can be sent an old body again: its <code>v1</code> is a legacy signature.</li>
<li>While a rotated secret overlaps with the new one, the header has two pairs, the new secret's first; any <code>v2</code> that fits will do.</li>
<li>The same event may come more than once, always with the same <code>id</code>: remember the ids that you have handled.</li>
<li>Answer with any 2xx within 15 seconds; else it comes again after 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 24 h and 48 h.</li>
</ul>`;

const standardUse = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_..., shown beside whs_... when the endpoint is made

app.post('/hook', express.raw({ type: '*/*' }), (request, response) => {
  const { id, event, data } = webhook.verify(request.body, request.headers); // throws when it is not genuine
  response.sendStatus(200);
});`;

const standard = `<h2 id="standard">Standard Webhooks</h2>
<p>An endpoint marked <code>standard</code> needs no function of ours: the specification's libraries, for a dozen languages, verify its deliveries unchanged.
Their key is <code>whsec_...</code>, which is shown beside <code>whs_...</code>: the base64 of the whole <code>whs_</code> text. While a rotated secret overlaps,
<code>webhook-signature</code> has two signatures with a space between them.</p>${codeBlock(standardUse)}`;

const sectionOf = ({ name, file, use }: Language, source: string): string =>
  `<h2 id="${name}">${name}</h2><p><a href="${path}${file}">${file}</a></p>${codeBlock(source)}<p>Where the webhook arrives:</p>${codeBlock(use)}`;

/** Adds the page, and each function as a file to download. Neither needs a key. */
export const serveGuide = async (app: FastifyInstance, cacheControl: string): Promise<void> => {
  const sources = languages.map((language) => ({
    language,
    source: readFileSync(join(import.meta.dirname, language.file), 'utf8'),
  }));
  const sections = sources.map(({ language, source }) => sectionOf(language, source)).join('\n');
  const links = languages.map(({ name }) => `<a href="#${name}">${name}</a>`).join(', ');
  const main = `${introduction}<p>A function to copy: ${links}. A library instead: <a href="#standard">Standard Webhooks</a>.</p>${sections}${standard}`;
  serveOtherPage(app, path, () => main, cacheControl);
  for (const { language, source } of sources) {
    const file = await prepareAnswer(source, fileHeaders(cacheControl));
    app.get(`${path}${language.file}`, (request, reply) => sendAnswer(request, reply, file));
  }
};
