/**
 * Every value of a header that was sent several times. Node keeps the first Authorization and joins
 * most others, so only the raw list has them.
 */
import type { IncomingMessage } from 'node:http';

/** The values of a header, in the order of the request. `name` is in lower case. */
export const headerValues = (
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): readonly string[] => {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent?.length === name.length && sent.toLowerCase() === name)
      values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
};
