/**
 * The reader's own test key in the snippets of the page. A key is shown once, when it is made, so
 * the service cannot look one up: the reader types it, or a session of the console makes a new one.
 * It stays in this tab.
 */

/** @typedef {import('../pages.ts').GuideWords['script']['key']} KeyWords */

const form = /^sk_test_[A-Za-z0-9_]+$/;
/** What the snippets call; nothing that pays out, which two people have to allow. */
const scopes = [
  'api:reports:read',
  'api:balance:read',
  'api:recurrent:bind',
  'api:recurrent:charge',
];

/**
 * How the languages name the key and the address, and what stands there instead.
 * @param {string} code
 * @param {string} key
 */
const withKey = (code, key) =>
  [
    ['PSP_API_KEY', key],
    ['PSP_URL', location.origin],
  ].reduce(
    (text, [name, value]) =>
      text
        .replaceAll(new RegExp(`\\$\\{${name}:-[^}]*\\}|\\$${name}\\b`, 'g'), value ?? '')
        .replaceAll(
          new RegExp(`process\\.env\\['${name}'\\] \\?\\? '[^']*'|getenv\\('${name}'\\)`, 'g'),
          `'${value}'`,
        )
        .replaceAll(`os.environ["${name}"]`, `"${value}"`),
    code,
  );

/**
 * Runs an operation of the console with the session of this browser.
 * @param {string} operationName
 * @param {object} variables
 */
const ask = async (operationName, variables) => {
  const version = document.body.dataset['console'] ?? '';
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-console': version },
    body: JSON.stringify({ operationName, variables, extensions: { console: version } }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
};

/**
 * Makes a key of the first shop of the person's merchant; gives it, or why there is none.
 * @param {KeyWords} words
 */
const makeKey = async (words) => {
  const session = await fetch('/console/session');
  if (session.status === 401) return { problem: words.logIn };
  const { merchant_id: merchantId } = await session.json();
  if (!merchantId) return { problem: words.noShop };
  const { merchant } = await ask('DeveloperShops', { merchantId });
  const shop = merchant?.shops[0];
  if (!shop) return { problem: words.noShop };
  const { apiKeyIssue: made } = await ask('IssueScopedKey', {
    merchantId,
    shopId: shop.id,
    mode: 'test',
    scopes,
    name: words.name,
  });
  return made.secret ? { key: String(made.secret) } : { problem: String(made.message) };
};

/**
 * A text that the browser keeps under `name`; null where it keeps none, or nothing at all.
 * @param {'localStorage' | 'sessionStorage'} where
 * @param {string} name
 */
export const openKept = (where, name) => ({
  read: () => {
    try {
      return window[where].getItem(name);
    } catch {
      return null;
    }
  },
  /** @param {string} text */
  keep: (text) => {
    try {
      window[where].setItem(name, text);
    } catch {
      // It will be asked for again.
    }
  },
});

const kept = openKept('sessionStorage', 'docs-test-key');

/**
 * Shows the form above the first snippet that names a key.
 * @param {KeyWords} words
 */
export const openOwnKey = (words) => {
  const codes = [...document.querySelectorAll('.snippet pre code')].map((element) => ({
    element,
    code: element.textContent ?? '',
  }));
  const first = codes.find(({ code }) => code.includes('PSP_API_KEY'))?.element.closest('.snippet');
  if (!first) return;
  const box = document.createElement('form');
  box.className = 'own-key';
  const label = document.createElement('label');
  const field = document.createElement('input');
  Object.assign(field, {
    name: 'key',
    placeholder: 'sk_test_...',
    autocomplete: 'off',
    spellcheck: false,
  });
  label.append(words.label, field);
  const [put, make] = [words.put, words.make].map((text) => {
    const button = document.createElement('button');
    button.textContent = text;
    return button;
  });
  const text = document.createElement('p');
  text.textContent = words.text;
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  if (!put || !make) return;
  make.type = 'button';
  box.append(text, label, put, make, status);
  first.before(box);

  /** @param {string} key */
  const place = (key) => {
    for (const { element, code } of codes) element.textContent = withKey(code, key);
    status.textContent = words.placed;
    field.value = key;
    kept.keep(key);
  };
  box.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (form.test(key)) place(key);
    else status.textContent = words.live;
  });
  make.addEventListener('click', () => {
    make.disabled = true;
    makeKey(words)
      .then(({ key, problem }) =>
        key === undefined ? (status.textContent = problem ?? '') : place(key),
      )
      .catch(() => (status.textContent = words.refused))
      .finally(() => (make.disabled = false));
  });
  const before = kept.read();
  if (before !== null && form.test(before)) place(before);
};
