/** The methods of an address: for 405 and its header Allow. Used only when no route was found. */

export interface AllowedMethods {
  /** Notes a route's pattern with its methods. */
  add(pattern: string, methods: string | readonly string[]): void;
  /** The methods at an address, in alphabetical order; none when nothing is there. */
  at(url: string): readonly string[];
}

const shapeOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*$/, '.*')}$`,
  );

/** An empty list of routes. */
export const methodsByPath = (): AllowedMethods => {
  const routes = new Map<string, { readonly shape: RegExp; readonly methods: Set<string> }>();
  return {
    add: (pattern, methods) => {
      const route = routes.get(pattern) ?? { shape: shapeOf(pattern), methods: new Set() };
      for (const method of [methods].flat()) route.methods.add(method);
      routes.set(pattern, route);
    },
    at: (url) => {
      const path = url.split('?', 1)[0] ?? '';
      const exact = routes.get(path);
      const found = exact ? [exact] : [...routes.values()].filter(({ shape }) => shape.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].toSorted();
    },
  };
};
