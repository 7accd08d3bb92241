/** The session of this browser. */

const headers = { 'x-console': 'session' };

/** Redirects to the login, which returns to the console. */
export const goToLogin = (): void => location.assign('/console/enter');

/** Ends the session, then redirects to the login. */
export const logOut = async (): Promise<void> => {
  await fetch('/console/session', { method: 'DELETE', headers }).catch(() => null);
  goToLogin();
};
