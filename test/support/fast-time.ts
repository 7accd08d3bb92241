/**
 * A time that passes faster than the real one: what waits a minute for a bank is over in seconds,
 * and the schedules of the service stay as they are. Each process of a run is started with this
 * module (`--import`); all of them read the same time from the same beginning. Timers stay real.
 */
export interface Speed {
  /** When the run began, in real milliseconds. */
  readonly began_ms: number;
  readonly times: number;
}

/** As fast as may be: a call that lasts longest is still over before its order counts as lost. */
export const usualTimes = 6;

/**
 * What a process of the run is started with. The emulated acquirer reads `Date`; the service's
 * queues keep the real one, which their database has, too.
 */
export const fastEnvironment = ({ began_ms, times }: Speed, reads: 'Temporal' | 'Date') => ({
  FAST_TIME: `${began_ms} ${times} ${reads}`,
  NODE_OPTIONS: `--import=${import.meta.filename}`,
});

const realTime_ms = Date.now.bind(Date);

/** The run's time now. */
export const fastTime_ms = ({ began_ms, times }: Speed): number =>
  Math.floor(began_ms + (realTime_ms() - began_ms) * times);

const hastenTemporal = (speed: Speed): void => {
  Temporal.Now.instant = () => Temporal.Instant.fromEpochMilliseconds(fastTime_ms(speed));
};

const hastenDate = (speed: Speed): void => {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (_, values: ConstructorParameters<typeof Date>) =>
      values.length > 0 ? new RealDate(...values) : new RealDate(fastTime_ms(speed)),
  });
};

const [began, times, reads] = (process.env['FAST_TIME'] ?? '').split(' ');
if (began && times) {
  const speed = { began_ms: Number(began), times: Number(times) };
  if (reads === 'Date') hastenDate(speed);
  else hastenTemporal(speed);
}
