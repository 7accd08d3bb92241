/**
 * Parts that are loaded on first use. A part that fails to load, or that breaks, shows an error in
 * its place and is retried; the rest of the console keeps working. "Try again" at any failed part
 * retries all of them. Some browsers cache a script's failure, so the page reloads when a retry
 * fails although the service answers.
 */
import { Component, useEffect, useRef, useState, type ComponentType, type ReactNode } from 'react';
import { useSettings } from '../settings.ts';
import { Broken, Failure } from './states.tsx';

interface FaultProps {
  readonly again: () => void;
}

const rest_ms = 3_000;

/** A part of a screen that could not be loaded: it is shown in the page's corner. */
const PartFault = ({ again }: FaultProps) => (
  <aside className="part-fault">
    <Failure again={again} />
  </aside>
);

interface BoundaryProps {
  readonly children: ReactNode;
}

const answers = (): Promise<boolean> =>
  fetch('/console/', { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  );

const lost = new Set<() => void>();
const tryAgain = (): void => {
  for (const again of lost) again();
};

/** Counts a failed part, and retries it periodically; returns a function that stops it. */
const addLost = (again: () => void, ask: () => Promise<void>): (() => void) => {
  const timer = setInterval(() => void ask(), rest_ms);
  lost.add(again);
  return () => {
    lost.delete(again);
    clearInterval(timer);
  };
};

class Boundary extends Component<BoundaryProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return <Broken again={() => this.setState({ isBroken: false })} />;
  }
}

export type Later<Props> = ((props: Props) => ReactNode) & {
  readonly preload: () => Promise<void>;
};

const laterWith = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Fault: ComponentType<FaultProps>,
): Later<Props> => {
  let loaded: ComponentType<Props> | null = null;
  // An import that failed is forgotten: the next one asks the service anew.
  let loading: Promise<boolean> | null = null;
  const loadOnce = (): Promise<boolean> =>
    (loading ??= load().then(
      (part) => {
        loaded = part;
        return true;
      },
      () => {
        loading = null;
        return false;
      },
    ));
  const Part = (props: Props) => {
    // When they change, the words and moments of what was loaded are drawn anew.
    useSettings();
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(
      loaded ? 'loaded' : 'loading',
    );
    const isAgain = useRef(false);
    useEffect(() => {
      if (state !== 'failed') return undefined;
      const again = (): void => {
        isAgain.current = true;
        setState('loading');
      };
      return addLost(again, async () => {
        if (await loadOnce()) setState('loaded');
      });
    }, [state]);
    useEffect(() => {
      if (state !== 'loading') return undefined;
      let isGone = false;
      const wait = async (): Promise<void> => {
        const isLoaded = await loadOnce();
        if (!isLoaded && isAgain.current && (await answers())) location.reload();
        if (!isGone) setState(isLoaded ? 'loaded' : 'failed');
      };
      void wait();
      return () => void (isGone = true);
    }, [state]);
    if (state === 'failed') return <Fault again={tryAgain} />;
    const Shown = loaded;
    if (!Shown) return null;
    return (
      <Boundary>
        <Shown {...props} />
      </Boundary>
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

export const laterScreen = (load: () => Promise<ComponentType>) => laterWith(load, Failure);
