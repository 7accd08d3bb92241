/** A shop's test clock: the work due on it, a slider, and its advance. */
import { useEffect, useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { exactMoment, utcMoment } from '../format.ts';
import { actButton } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { developerWords as own } from '../words/developers.ts';
import { words } from '../words/words.ts';
import type { DeveloperShop } from './keys.tsx';

const clockActs = (shop: graph.FreezeClockMutationVariables) =>
  ({
    make: {
      permission: 'testClockCreate',
      isMain: true,
      title: own.clockMake,
      consequence: own.clockMakeText,
      act: () => send(graph.CreateClock, { ...shop, at: new Date().toISOString() }, own.clockMade),
    },
    freeze: {
      permission: 'testClockFreeze',
      title: own.clockFreeze,
      consequence: own.clockStands,
      act: () => send(graph.FreezeClock, shop, own.clockStands),
    },
    resume: {
      permission: 'testClockResume',
      title: own.clockResume,
      consequence: own.clockRuns,
      act: () => send(graph.ResumeClock, shop, own.clockRuns),
    },
    remove: {
      permission: 'testClockRemove',
      title: own.clockRemove,
      consequence: own.clockRemoveText,
      act: () => send(graph.RemoveClock, shop, own.clockRemoved),
    },
  }) as const;

interface Due {
  readonly at: string;
  readonly text: string;
}

interface Stop {
  readonly at: string;
  readonly due: readonly Due[];
}

const dueAt = (moment: string | null, text: string): readonly Due[] =>
  moment === null ? [] : [{ at: moment, text }];

const dueOf = (events: graph.ClockEventsQuery): readonly Due[] => [
  ...events.billingSubscriptionsConnection.nodes.flatMap((one) => {
    const name = one.planName ?? one.customerRef;
    return [
      ...dueAt(one.nextChargeAt, own.due.charge(name)),
      ...dueAt(one.retryAt, own.due.retry(name)),
    ];
  }),
  ...events.payments.nodes.flatMap((one) =>
    one.status === 'pending'
      ? dueAt(one.expiresAt, own.due.expiry(one.orderId))
      : dueAt(one.captureBefore, own.due.hold(one.orderId)),
  ),
  ...events.webhookDeliveries.nodes.flatMap((one) =>
    dueAt(one.nextAttemptAt, own.due.webhook(one.event.replace('_', '.'))),
  ),
];

/** How far a clock may be advanced, days less than the five years of the rule. */
const far_ms = 5 * 365 * 86_400_000;

/** The moments ahead of the clock, nearest first; events within one second share a stop. */
const stopsOf = (events: graph.ClockEventsQuery, now: string): readonly Stop[] => {
  const from_ms = Date.parse(now);
  const ahead = dueOf(events)
    .filter((due) => Date.parse(due.at) > from_ms && Date.parse(due.at) - from_ms < far_ms)
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const stops: { at: string; due: Due[] }[] = [];
  for (const due of ahead) {
    const last = stops.at(-1);
    if (last && Date.parse(due.at) - Date.parse(last.due[0]?.at ?? due.at) < 1_000) {
      last.due.push(due);
      last.at = due.at;
    } else stops.push({ at: due.at, due: [due] });
  }
  return stops;
};

/** The distance between two moments, in the largest unit that fits. */
const distance = (from: string, until: string): string => {
  const minutes = Math.round((Date.parse(until) - Date.parse(from)) / 60_000);
  if (minutes < 1) return own.atOnce;
  const ahead = new Intl.RelativeTimeFormat(words.locale);
  if (minutes < 60) return ahead.format(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? ahead.format(hours, 'hour') : ahead.format(Math.round(hours / 24), 'day');
};

type TestClock = NonNullable<graph.ClockQuery['testClock']>;

const poll_ms = 1_000;

const Exact = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={utcMoment(at)}>
    {exactMoment(at)}
  </time>
);

const Stops = ({
  clock,
  stops,
  place,
}: {
  readonly clock: TestClock;
  readonly stops: readonly Stop[];
  readonly place: number;
}) => (
  <ol className="timeline stops">
    {stops.map((stop, index) => (
      <li
        key={stop.at}
        data-tone={index <= place ? 'moving' : 'waiting'}
        aria-current={index === place ? 'step' : undefined}
      >
        <div className="line">
          <span className="break">
            <strong>{distance(clock.now, stop.at)}</strong>:{' '}
            {stop.due.map(({ text }) => text).join('; ')}
          </span>
          <Exact at={stop.at} />
        </div>
      </li>
    ))}
  </ol>
);

const Ahead = ({ clock }: { readonly clock: TestClock }) => {
  const { merchantId, shopId, now } = clock;
  const { data, error, again } = useAsk(graph.ClockEvents, { merchantId, shopId });
  const [chosen, setPlace] = useState(0);
  useEffect(() => {
    again();
    setPlace(0);
  }, [now, again]);
  if (!data) return <Waiting error={error} />;
  const stops = stopsOf(data, now);
  const place = Math.min(chosen, stops.length - 1);
  const stop = stops[place];
  if (!stop) return <p className="quiet">{own.clockNothing}</p>;
  const text = `${distance(now, stop.at)}: ${stop.due[0]?.text ?? ''}`;
  return (
    <>
      <div className="slider">
        <input
          type="range"
          min={0}
          max={stops.length - 1}
          value={place}
          aria-label={own.clockSlider}
          aria-valuetext={text}
          disabled={stops.length === 1}
          onChange={(event) => setPlace(Number(event.target.value))}
        />
        <output>{text}</output>
      </div>
      {actButton({
        permission: 'testClockAdvance',
        isMain: true,
        title: own.clockAdvance,
        consequence: own.clockAdvanceText(
          exactMoment(stop.at),
          stops.slice(0, place + 1).reduce((sum, { due }) => sum + due.length, 0),
        ),
        act: () => send(graph.AdvanceClock, { merchantId, shopId, to: stop.at }, own.clockGoing),
      })}
      <Stops clock={clock} stops={stops} place={place} />
    </>
  );
};

const Face = ({ clock }: { readonly clock: TestClock }) => {
  const { now, frozen, advancingTo } = clock;
  const state = frozen ? own.clockStands : own.clockRuns;
  return (
    <div>
      <h2>{own.clockShows}</h2>
      <p className="clock-face">
        <Exact at={now} />
      </p>
      <p className="quiet" role="status">
        {advancingTo === null ? state : own.clockOn(exactMoment(advancingTo))}
      </p>
    </div>
  );
};

export const ClockPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const { merchantId, id: shopId } = shop;
  const { data, error, again } = useAsk(graph.Clock, { merchantId, shopId });
  const acts = clockActs({ merchantId, shopId });
  const clock = data?.testClock ?? null;
  const isMoving = clock !== null && (clock.advancingTo !== null || !clock.frozen);
  useFollow(again, isMoving ? { events: false, every_ms: poll_ms } : undefined);
  if (!data) return <Waiting error={error} />;
  if (!clock)
    return (
      <Empty title={own.clockNone}>
        <p>{own.clockNoneText}</p>
        <div className="acts">{actButton(acts.make)}</div>
      </Empty>
    );
  return (
    <div className="cards">
      <section className="card">
        <Face clock={clock} />
        <div className="acts">
          {actButton(clock.frozen ? acts.resume : acts.freeze)}
          {actButton(acts.remove)}
        </div>
      </section>
      <section className="card">
        <h2>{own.clockNext}</h2>
        {clock.advancingTo === null && <Ahead clock={clock} />}
      </section>
    </div>
  );
};
