/** Search in the documentation: a list of sections, loaded when the reader begins to type. */

/**
 * A section of a page: its address, the page's title, its own title, and its text.
 * @typedef {Readonly<Record<'u' | 'p' | 't' | 'x', string>>} Section
 */

const shown_max = 12;

/**
 * A text with one spelling of each letter: ё is е, as most people type it.
 * @param {string} text
 */
const folded = (text) => text.normalize('NFC').toLowerCase().replaceAll('ё', 'е');

/**
 * The words of a text. Long ones are cut, so that other forms of a word are found.
 * @param {string} text
 */
const stemsOf = (text) =>
  (folded(text).match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => {
    // A code or a status is looked for as it is.
    if (word.includes('_') || /\d/.test(word)) return word;
    return word.slice(0, Math.max(4, Math.min(word.length - 2, /[a-z]/.test(word) ? 6 : 5)));
  });

/**
 * How well a section fits: null when a word is missing.
 * @param {Section} section
 * @param {readonly string[]} stems
 */
const weightOf = ({ p, t, x }, stems) => {
  const [page, title] = [folded(p), folded(t)];
  let weight = 0;
  for (const stem of stems) {
    if (title.includes(stem)) weight += 6;
    else if (page.includes(stem)) weight += 3;
    else if (folded(x).includes(stem)) weight += 1;
    else return null;
  }
  return weight;
};

/**
 * The piece of a text around the first word that was looked for.
 * @param {string} text
 * @param {readonly string[]} stems
 */
const pieceOf = (text, stems) => {
  const places = stems.map((stem) => folded(text).indexOf(stem)).filter((at) => at !== -1);
  const from = Math.max(0, Math.min(text.length, ...places) - 40);
  const begin = from === 0 ? 0 : text.indexOf(' ', from) + 1;
  return `${begin > 0 ? '... ' : ''}${text.slice(begin, begin + 120)}`;
};

/**
 * What is found, best first.
 * @param {readonly Section[]} sections
 * @param {readonly string[]} stems
 */
const find = (sections, stems) =>
  sections
    .map((section) => ({ section, weight: weightOf(section, stems) }))
    .filter(({ weight }) => weight !== null)
    .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0))
    .slice(0, shown_max)
    .map(({ section }) => section);

/**
 * One that was found, as a link.
 * @param {Section} section
 * @param {readonly string[]} stems
 */
const linkTo = ({ u, p, t, x }, stems) => {
  const link = document.createElement('a');
  link.href = u;
  const title = document.createElement('strong');
  title.textContent = t === p ? t : `${p}: ${t}`;
  const piece = document.createElement('span');
  piece.textContent = pieceOf(x, stems);
  link.append(title, piece);
  return link;
};

/**
 * Makes the field of the page work.
 * @param {{ readonly found: string, readonly nothing: string }} words
 */
export const openSearch = (words) => {
  const [form, field, list, status] = [
    '.search',
    '.search input',
    '.found',
    '.search [role=status]',
  ]
    .map((one) => document.querySelector(one))
    .map((one) => (one instanceof HTMLElement ? one : null));
  if (!form || !(field instanceof HTMLInputElement) || !list || !status) return;
  form.hidden = false;
  /** @type {Promise<readonly Section[]> | null} */
  let loading = null;
  const load = () =>
    (loading ??= fetch(`/docs/${document.documentElement.lang}/search.json`)
      .then((response) => response.json())
      .catch(() => {
        loading = null;
        return [];
      }));
  const close = () => void (list.hidden = true);

  const look = async () => {
    const stems = stemsOf(field.value);
    if (stems.length === 0) return close();
    const found = find(await load(), stems);
    const nothing = document.createElement('p');
    nothing.textContent = words.nothing;
    list.replaceChildren(
      ...(found.length > 0 ? found.map((one) => linkTo(one, stems)) : [nothing]),
    );
    list.hidden = false;
    status.textContent = found.length > 0 ? `${words.found}: ${found.length}` : words.nothing;
  };

  field.addEventListener('focus', () => void load());
  field.addEventListener('input', () => void look());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      field.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || list.hidden) return;
    event.preventDefault();
    const places = [field, ...list.querySelectorAll('a')];
    const at = places.findIndex((one) => one === document.activeElement);
    places[(at + step + places.length) % places.length]?.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !form.contains(target)) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    field.focus();
  });
};
