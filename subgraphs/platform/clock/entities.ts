/** Test clocks: a shop's own time in test mode. A small table; live mode never reads it. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../database/instant.ts';
import type { Row } from '../database/statement.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

export const TestClockEntity = defineEntity({
  name: 'TestClock',
  tableName: 'test_clock',
  properties: {
    merchantId: p.uuid().primary(),
    shopId: p.uuid().primary(),
    /** What the clock showed at the real moment `setAt`. It shows it still while it stands. */
    clockAt: instant().groups('audit').serializedName('now'),
    setAt: instant(),
    frozen: p.boolean().groups('audit'),
    /** Where it is advancing to. It stands at every moment on the way for which something waits. */
    targetAt: instant().strictNullable().groups('audit').serializedName('advancingTo'),
    createdAt: instant(),
  },
});
export type TestClock = Row<InferEntity<typeof TestClockEntity>>;

export const clockEntities = [TestClockEntity];
