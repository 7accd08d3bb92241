/**
 * What the test files of one process share because it is expensive to start. It is started by the
 * first file that asks, and closed when all files of the process have ended.
 */
const closers: (() => Promise<void>)[] = [];

/** Calls `close` when all test files of this process have ended. */
export const closeAtEnd = (close: () => Promise<void>): void => void closers.push(close);

/** For `group.ts` alone. */
export const closeShared = async (): Promise<void> => {
  await Promise.all(closers.splice(0).map((close) => close()));
};
