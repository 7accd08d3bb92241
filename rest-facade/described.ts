/** The description of the API as its documentation reads it, with every reference in its place. */
export interface DescribedContent {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly example?: unknown;
}

type Contents = Readonly<Record<string, DescribedContent>>;

export interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Contents }>
  >;
}

export interface Described {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly 'x-changes': readonly { readonly date: string; readonly changes: readonly string[] }[];
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>;
}

/** The examples of a body, each with its type. */
export const examplesOf = (
  contents: Contents,
): readonly { readonly type: string; readonly value: unknown }[] =>
  Object.entries(contents).flatMap(([type, { example, examples }]) =>
    example === undefined
      ? Object.values(examples ?? {}).map(({ value }) => ({ type, value }))
      : [{ type, value: example }],
  );
