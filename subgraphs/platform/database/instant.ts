/**
 * A moment in the database: `timestamptz(3)` there, Temporal.Instant here. Milliseconds on both
 * sides, so that a keyset cursor skips nothing.
 */
import { p, Type } from '@mikro-orm/core';
import { rfc3339 } from '../../../schema/scalars.ts';

/** The type of a column that holds such a moment; null stays null. */
class InstantType extends Type<Temporal.Instant | null, string | null> {
  override convertToDatabaseValue(value: Temporal.Instant | string | null): string | null {
    return value instanceof Temporal.Instant ? rfc3339(value) : value;
  }

  override convertToJSValue(
    value: Temporal.Instant | Date | string | null,
  ): Temporal.Instant | null {
    if (value === null || value === undefined || value instanceof Temporal.Instant)
      return value ?? null;
    return value instanceof Date
      ? Temporal.Instant.fromEpochMilliseconds(value.getTime())
      : Temporal.Instant.from(value.replace(' ', 'T'));
  }

  override getColumnType(): string {
    return 'timestamptz(3)';
  }

  override compareAsType(): string {
    return 'string';
  }

  /** What an entity holds, which is not what is compared. */
  override get runtimeType(): string {
    return 'Temporal.Instant';
  }
}

/** A column that holds a moment. */
export const instant = () => p.type(InstantType).$type<Temporal.Instant>();
