/** The prefix of a key decides its mode (docs/contract.md#test-and-live). */
import { enums } from '../../schema/generated/enums.ts';

export const modes = enums.Mode;
export type Mode = (typeof modes)[number];
