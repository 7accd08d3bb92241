/**
 * Calls that name a merchant: another's merchant is reported as not found, before the field's own
 * resolver runs. This covers every field with an argument `merchantId`, present and future.
 */
import {
  getNamedType,
  isInputObjectType,
  isObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
} from 'graphql';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { mayReadMerchant } from './entities.ts';
import type { Principal } from '../access/principal.ts';
import { refusal } from '../access/reach.ts';

const noMerchant = 'there is no such merchant';

type Path = readonly string[];

/** Where the arguments of a field name merchants; found once, when the schema is built. */
const pathsIn = (
  inputs: readonly (GraphQLArgument | GraphQLInputField)[],
  above: Path,
): readonly Path[] =>
  inputs.flatMap(({ name, type }) => {
    if (name === 'merchantId') return [[...above, name]];
    const named = getNamedType(type);
    // Inputs are two levels deep at most; the limit only stops the recursion of an input that
    // contains itself.
    return isInputObjectType(named) && above.length < 3
      ? pathsIn(Object.values(named.getFields()), [...above, name])
      : [];
  });

const valuesAt = (value: unknown, [name, ...rest]: Path): readonly unknown[] => {
  if (Array.isArray(value))
    return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return [value];
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? valuesAt(Reflect.get(value, name), rest)
    : [];
};

const canRefuse = (field: GraphQLField<unknown, unknown>): boolean => {
  const type = getNamedType(field.type);
  return (
    isUnionType(type) &&
    type.getTypes().some((member) => isObjectType(member) && member.name === 'Refused')
  );
};

/** Whether there are merchants with all of these ids. */
export type AreMerchants = (ids: readonly string[]) => Promise<boolean>;

/**
 * The result for a field's arguments: the refusal as a value where the field has a place for it,
 * null when they name no other merchant.
 */
type Check = (args: unknown, principal: Principal) => Refusal | null | Promise<Refusal | null>;

/**
 * The check of a field. It throws the refusal where the field has no place for it. A missing
 * merchant gets the same message as another's; only people name merchants that may not exist, so
 * other callers skip the lookup.
 */
export const strangerCheck = (
  field: GraphQLField<unknown, unknown>,
  areMerchants: AreMerchants,
): Check => {
  const paths = pathsIn(field.args, []);
  if (paths.length === 0) return () => null;
  const hasPlace = canRefuse(field);
  const refused = (): Refusal => {
    if (!hasPlace) throw refusal('not_found', noMerchant);
    return refuse('not_found', noMerchant);
  };
  return (args, principal) => {
    const named = paths
      .flatMap((path) => valuesAt(args, path))
      .filter((merchantId) => typeof merchantId === 'string');
    if (!named.every((merchantId) => mayReadMerchant(principal, merchantId))) return refused();
    if (principal.kind !== 'operator' || named.length === 0) return null;
    return areMerchants(named).then((known) => (known ? null : refused()));
  };
};
