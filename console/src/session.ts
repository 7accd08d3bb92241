/** The session of this browser. */

const headers = { 'x-console': 'session' };

/** Leads to the login; from there back to the console. */
export const goToLogin = (): void => location.assign('/console/enter');

/** Ends the session, then leads to the login. */
export const logOut = async (): Promise<void> => {
  await fetch('/console/session', { method: 'DELETE', headers }).catch(() => null);
  goToLogin();
};
