/**
 * What a person came for is loaded first: what is loaded ahead of its use waits for the first rows,
 * or for why there are none. A screen without either loads nothing ahead.
 */
import { useEffect } from 'react';

const shown = Promise.withResolvers<void>();

/** Resolves when there are rows, or why there are none. */
export const firstScreen: Promise<void> = shown.promise;

/** Reports, from what ends the wait of a screen. */
export const useFirstScreen = (): void => useEffect(shown.resolve, []);
