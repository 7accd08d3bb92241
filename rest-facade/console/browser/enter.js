/**
 * Takes a one-time link from the address, which no server has seen, and continues to the console. It
 * ends the current session of this browser, so its person is asked first.
 */

/** @param {string} name Which of the page's messages is shown. */
const show = (name) => {
  for (const part of document.querySelectorAll('[data-when]'))
    if (part instanceof HTMLElement) part.hidden = part.dataset['when'] !== name;
};

/** The link whose reader is asked. */
let asked = '';

/**
 * @param {string} link
 * @param {string} subject Who is logged in here.
 */
const ask = (link, subject) => {
  asked = link;
  const who = document.querySelector('[data-who]');
  if (who) who.textContent = subject;
  show('asking');
};

/**
 * @param {string} link
 * @param {boolean} replace Whether the session of before may end.
 */
const enter = async (link, replace) => {
  show('opening');
  try {
    const answer = await fetch('/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-console': 'enter' },
      body: JSON.stringify({ link, replace }),
    });
    if (answer.ok) location.replace('/console/');
    else if (answer.status === 409) ask(link, (await answer.json()).session.subject);
    else show(answer.status === 401 ? 'over' : 'failed');
  } catch {
    show('failed');
  }
};

const begin = () => {
  const link = location.hash.slice(1);
  if (link === '') return;
  // The secret does not stay in the address or in the browser's history.
  history.replaceState(null, '', location.pathname);
  void enter(link, false);
};
document.querySelector('[data-go]')?.addEventListener('click', () => void enter(asked, true));
// A link may be pasted into a page that is open already.
addEventListener('hashchange', begin);
begin();
