/**
 * What the documentation's pages have with script: tabs of snippets, their copying. Without it
 * every snippet is shown in each language.
 */
import { openKept, openOwnKey } from './own-key.js';
import { openSearch } from './search.js';

/** @type {import('../pages.ts').GuideWords['script']} */
const words = JSON.parse(document.body.dataset['words'] ?? '{}');

/** What the reader has chosen last. */
const chosen = openKept('localStorage', 'docs-language');

/** @type {((name: string) => void)[]} */
const choices = [];

/**
 * One snippet in several languages, as tabs: arrows move among them (ARIA, tabs pattern).
 * @param {HTMLElement} group
 */
const makeTabs = (group) => {
  const panels = [...group.querySelectorAll('.code')].filter((one) => one instanceof HTMLElement);
  if (panels.length < 2) return;
  const list = document.createElement('div');
  list.className = 'tab-list';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', words.tabs);
  const id = group.parentElement?.id ?? '';
  const tabs = panels.map((panel, index) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.setAttribute('role', 'tab');
    tab.id = `${id}-tab-${index}`;
    tab.textContent = panel.dataset['name'] ?? '';
    panel.id = `${id}-panel-${index}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.setAttribute('aria-controls', panel.id);
    list.append(tab);
    return tab;
  });
  /** @param {number} index */
  const show = (index) => {
    for (const [at, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(at === index));
      tab.tabIndex = at === index ? 0 : -1;
      const panel = panels[at];
      if (panel) panel.hidden = at !== index;
    }
  };
  /** @param {string} name */
  const showNamed = (name) => {
    const index = panels.findIndex((panel) => panel.dataset['language'] === name);
    if (index !== -1) show(index);
  };
  /** @param {number} index */
  const choose = (index) => {
    const name = panels[index]?.dataset['language'] ?? '';
    const before = list.getBoundingClientRect().top;
    for (const one of choices) one(name);
    // What the reader looks at stays where it is, whatever has grown above.
    scrollBy(0, list.getBoundingClientRect().top - before);
    chosen.keep(name);
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(index));
    tab.addEventListener('keydown', ({ key }) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[key];
      if (to === undefined) return;
      const next = (to + tabs.length) % tabs.length;
      choose(next);
      tabs[next]?.focus();
    });
  }
  choices.push(showNamed);
  group.prepend(list);
  show(0);
};

/**
 * A button that copies a snippet.
 * @param {HTMLElement} code
 */
const addCopying = (code) => {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = words.copy;
  const copy = async () => {
    await navigator.clipboard.writeText(code.querySelector('pre')?.textContent ?? '');
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = words.copy), 2_000);
  };
  button.addEventListener('click', () => void copy());
  code.append(button);
};

// Addresses of operations from the time when the reference was here.
if (/^\/docs\/?$/.test(location.pathname) && /^#(tag|model|description)\b/.test(location.hash))
  location.replace(`/docs/reference/${location.hash}`);

/** Opens what the address leads into; not every browser does so. */
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target?.closest('details');
  if (!details || details.open) return;
  details.open = true;
  target?.scrollIntoView();
};
addEventListener('hashchange', openTarget);
openTarget();

for (const group of document.querySelectorAll('.tabs'))
  if (group instanceof HTMLElement) makeTabs(group);
for (const code of document.querySelectorAll('.code'))
  if (code instanceof HTMLElement && navigator.clipboard) addCopying(code);
const kept = chosen.read();
if (kept !== null) for (const one of choices) one(kept);
openSearch(words);
openOwnKey(words.key);
