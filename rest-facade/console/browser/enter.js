/** Takes a one-time link from the address, which no server has seen, and goes on to the console. */

/** @param {string} name Which of the page's messages is shown. */
const show = (name) => {
  for (const part of document.querySelectorAll('[data-when]'))
    if (part instanceof HTMLElement) part.hidden = part.dataset['when'] !== name;
};

/** @param {string} link */
const enter = async (link) => {
  show('opening');
  // The secret does not stay in the address or in the browser's history.
  history.replaceState(null, '', location.pathname);
  try {
    const answer = await fetch('/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-console': 'enter' },
      body: JSON.stringify({ link }),
    });
    if (answer.ok) location.replace('/console/');
    else show(answer.status === 401 ? 'over' : 'failed');
  } catch {
    show('failed');
  }
};

const begin = () => {
  const link = location.hash.slice(1);
  if (link !== '') void enter(link);
};
// A link may be pasted into a page that is open already.
addEventListener('hashchange', begin);
begin();
