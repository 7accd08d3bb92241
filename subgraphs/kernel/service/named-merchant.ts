/**
 * Calls that name a merchant: one that is not the caller's is answered as if there were none, before the field's own resolver runs. So it holds for
 * every field with an argument `merchantId`, whoever writes the next one.
 */
import { getNamedType, isInputObjectType, isObjectType, isUnionType, type GraphQLArgument, type GraphQLField, type GraphQLInputField } from 'graphql';
import { refused, type Refused } from '../rules/refusal.ts';
import { mayReadMerchant } from './entities.ts';
import type { Principal } from './principal.ts';
import { refusal } from './reach.ts';

const noMerchant = 'there is no such merchant';

type Path = readonly string[];

/** Where the arguments of a field name merchants; found once, when the schema is built. */
const pathsIn = (inputs: readonly (GraphQLArgument | GraphQLInputField)[], above: Path): readonly Path[] =>
  inputs.flatMap(({ name, type }) => {
    if (name === 'merchantId') return [[...above, name]];
    const named = getNamedType(type);
    // Inputs are two deep at most; the limit only keeps one that holds itself from going on for ever.
    return isInputObjectType(named) && above.length < 3 ? pathsIn(Object.values(named.getFields()), [...above, name]) : [];
  });

const valuesAt = (value: unknown, [name, ...rest]: Path): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return [value];
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? valuesAt(Reflect.get(value, name), rest) : [];
};

const canRefuse = (field: GraphQLField<unknown, unknown>): boolean => {
  const type = getNamedType(field.type);
  return isUnionType(type) && type.getTypes().some((member) => isObjectType(member) && member.name === 'Refused');
};

/**
 * The check of a field: gives the refusal as a value where the field has a place for it, throws it as an error where not, and gives null when the
 * call names nobody else's merchant.
 */
export const strangerCheck = (field: GraphQLField<unknown, unknown>): ((args: unknown, principal: Principal) => Refused | null) => {
  const paths = pathsIn(field.args, []);
  if (paths.length === 0) return () => null;
  const hasPlace = canRefuse(field);
  return (args, principal) => {
    const named = paths.flatMap((path) => valuesAt(args, path));
    if (named.every((merchantId) => typeof merchantId !== 'string' || mayReadMerchant(principal, merchantId))) return null;
    if (!hasPlace) throw refusal('not_found', noMerchant);
    return refused('not_found', noMerchant);
  };
};
