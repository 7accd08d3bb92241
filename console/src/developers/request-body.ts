/** Reads the bodies of the request log; both are masked, and may be cut. */

const kinds = ['payment', 'payout', 'link', 'subscription'] as const;

/** What a call created. */
export interface Created {
  readonly kind: (typeof kinds)[number];
  readonly id: string;
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
};

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** What the call created, where its answer says it; null otherwise. */
export const createdBy = ({
  status,
  responseBody,
}: {
  readonly status: number;
  readonly responseBody: string | null;
}): Created | null => {
  if (status >= 300 || responseBody === null) return null;
  const body = parsed(responseBody);
  for (const kind of kinds) {
    const id = fieldOf(fieldOf(body, kind), 'id');
    if (typeof id === 'string') return { kind, id };
  }
  return null;
};

/** A body indented; one that was cut stays as it is. */
export const prettyBody = (body: string): string => {
  const value = parsed(body);
  return value === null ? body : JSON.stringify(value, null, 2);
};
