/** The texts of the console: which keys nobody reads. */
import { Visitor, parseSync, type Expression, type ObjectProperty } from 'oxc-parser';

/** A text, or a group of them, by its key and the key of the group that it stands in. */
interface Key {
  readonly name: string;
  readonly group: string;
}

const nameOf = ({ key }: ObjectProperty): string => {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' ? String(key.value) : '';
};

const keysIn = (group: string, value: Expression): readonly Key[] => {
  if (value.type !== 'ObjectExpression') return [];
  return value.properties.flatMap((property) => {
    if (property.type !== 'Property') return [];
    const name = nameOf(property);
    return [{ name, group }, ...keysIn(name, property.value)];
  });
};

/** The keys of a file of texts, which are in its constant of the English ones. */
export const keysOf = (path: string, text: string): readonly Key[] => {
  const keys: Key[] = [];
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && /^en$|En$/.test(id.name) && init)
        keys.push(...keysIn('', init));
    },
  }).visit(parseSync(path, text).program);
  return keys;
};

/**
 * The keys that no program reads by name. Those of a group that is read whole, or by a value, are
 * not asked for: no full stop follows its name there.
 */
export const unusedKeys = (keys: readonly Key[], programs: string): readonly string[] =>
  keys
    .filter(
      ({ name, group }) =>
        !new RegExp(`\\b${RegExp.escape(name)}\\b`).test(programs) &&
        !(group !== '' && new RegExp(`\\b${RegExp.escape(group)}\\b(?!\\.)`).test(programs)),
    )
    .map(({ name }) => name);
