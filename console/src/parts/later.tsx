/**
 * Parts that are loaded on first use. A part that fails to load, or that breaks, shows an error in
 * its place and is retried; the rest of the console keeps working. "Try again" at any failed part
 * retries all of them. Some browsers cache a script's failure, so the page reloads when a retry
 * fails although the service answers.
 */
import { CatchBoundary } from '@tanstack/react-router';
import { useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { useSettings } from '../settings.ts';
import { openStore } from '../store.ts';
import { Broken, Failure } from './states.tsx';

const rest_ms = 3_000;

const answers = (): Promise<boolean> =>
  fetch('/console/', { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  );

/** How each part that is not there yet is tried again. */
const lost = new Set<() => void>();
const tryAgain = (): void => {
  for (const again of lost) again();
};

const Fault = () => <Failure again={tryAgain} />;

/** A part of a screen that could not be loaded: it is shown in the page's corner. */
const PartFault = () => (
  <aside className="part-fault">
    <Fault />
  </aside>
);

export type Later<Props> = ((props: Props) => ReactNode) & {
  readonly preload: () => Promise<void>;
};

const laterWith = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Lost: ComponentType,
): Later<Props> => {
  const loaded = openStore<ComponentType<Props> | null>(null);
  // An import that failed is forgotten: the next one asks the service anew.
  let loading: Promise<void> | null = null;
  const loadOnce = async (): Promise<boolean> => {
    loading ??= load().then(loaded.set, () => void (loading = null));
    await loading;
    return loaded.now() !== null;
  };
  const Part = (props: Props) => {
    // When they change, the words and moments of what was loaded are drawn anew.
    useSettings();
    const Shown = loaded.use();
    const [isFailed, setFailed] = useState(false);
    useEffect(() => {
      if (Shown) return undefined;
      let isGone = false;
      const attempt = async (isAgain: boolean): Promise<void> => {
        const isLoaded = await loadOnce();
        if (!isLoaded && isAgain && (await answers())) location.reload();
        if (!isGone) setFailed(!isLoaded);
      };
      const again = (): void => {
        setFailed(false);
        void attempt(true);
      };
      const timer = setInterval(() => void loadOnce(), rest_ms);
      lost.add(again);
      void attempt(false);
      return () => {
        isGone = true;
        lost.delete(again);
        clearInterval(timer);
      };
    }, [Shown]);
    if (!Shown) return isFailed && <Lost />;
    return (
      <CatchBoundary
        getResetKey={() => null}
        errorComponent={({ reset }) => <Broken again={reset} />}
      >
        <Shown {...props} />
      </CatchBoundary>
    );
  };
  const preload = async (): Promise<void> => {
    await loadOnce();
  };
  return Object.assign(Part, { preload });
};

/** A part of a screen: a menu, a drawer, a dialog. */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  laterWith(load, PartFault);

export const laterScreen = (load: () => Promise<ComponentType>) => laterWith(load, Fault);
