/**
 * What a person came for is loaded first: other parts of the page wait until the first screen has
 * something to show.
 */
import { useEffect } from 'react';

/** For a screen that shows none of the parts that report. */
const patience_ms = 5_000;

const shown = Promise.withResolvers<void>();
setTimeout(shown.resolve, patience_ms);

/** Resolves when the first screen has its rows, or why there are none. */
export const firstScreen: Promise<void> = shown.promise;

/** Reports, from what ends the wait of a screen. */
export const useFirstScreen = (): void => useEffect(shown.resolve, []);
