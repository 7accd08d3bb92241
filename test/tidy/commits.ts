/** Subjects of commits: `area: imperative summary`; the reason stands in the body. */

export const subject_max_chars = 72;

/** One area or several: folders or parts of the service, in lower case. */
const form = /^[a-z][a-z0-9.-]*(?:(?:, |\/)[a-z0-9.-]+)*: (?<verb>\S+)(?: .*)?$/;

/** Verbs whose imperative ends as if it were another form. */
const imperatives: ReadonlySet<string> = new Set(
  `address bypass compress express guess pass process suppress
  bring embed exceed feed focus need proceed seed shed speed`.split(/\s+/),
);

/** What is wrong with a subject; empty when nothing is. */
export const subjectFaults = (subject: string): readonly string[] => {
  const faults: string[] = [];
  if (subject.length > subject_max_chars)
    faults.push(`longer than ${subject_max_chars} characters`);
  if (subject.endsWith('.')) faults.push('ends with a full stop');
  const verb = form.exec(subject)?.groups?.['verb'];
  if (verb === undefined) return [...faults, 'not of the form "area: imperative summary"'];
  if (!/^[a-z]/.test(verb)) faults.push('the summary does not begin in lower case');
  else if (/(?:ed|ing|[^s]s)$/.test(verb) && !imperatives.has(verb))
    faults.push(`"${verb}" is no imperative`);
  return faults;
};
