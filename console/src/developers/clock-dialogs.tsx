/** The dialogs of a test clock. */
import { useMutation } from 'urql';
import {
  AdvanceClock,
  CreateClock,
  FreezeClock,
  RemoveClock,
  ResumeClock,
  type ClockQuery,
} from '../../../schema/generated/console.ts';
import { exactMoment } from '../format.ts';
import { ActForm } from '../parts/act-form.tsx';
import { ended, outcomeOf } from '../parts/outcome.ts';
import { useDeveloperWords } from '../words/developers.ts';
import { useWords } from '../words/words.ts';
import type { Stop } from './clock-moments.ts';

export type ClockAct = 'make' | 'freeze' | 'resume' | 'remove';

interface OfShop {
  readonly merchantId: string;
  readonly shopId: string;
}

const useClockAct = (shop: OfShop) => {
  const own = useDeveloperWords();
  const [, create] = useMutation(CreateClock);
  const [, freeze] = useMutation(FreezeClock);
  const [, resume] = useMutation(ResumeClock);
  const [, remove] = useMutation(RemoveClock);
  const acts = {
    make: {
      title: own.clockMake,
      consequence: own.clockMakeText,
      act: async () =>
        outcomeOf(await create({ ...shop, at: new Date().toISOString() }), (data) =>
          ended(data.testClockCreate, own.clockMade),
        ),
    },
    freeze: {
      title: own.clockFreeze,
      consequence: own.clockStands,
      act: async () =>
        outcomeOf(await freeze(shop), (data) => ended(data.testClockFreeze, own.clockStands)),
    },
    resume: {
      title: own.clockResume,
      consequence: own.clockRuns,
      act: async () =>
        outcomeOf(await resume(shop), (data) => ended(data.testClockResume, own.clockRuns)),
    },
    remove: {
      title: own.clockRemove,
      consequence: own.clockRemoveText,
      act: async () =>
        outcomeOf(await remove(shop), (data) => ended(data.testClockRemove, own.clockRemoved)),
    },
  } as const;
  return acts;
};

/** Creates, stops, starts or removes a clock. */
export const ClockDialog = ({
  act,
  shop,
  close,
}: {
  readonly act: ClockAct;
  readonly shop: OfShop;
  readonly close: () => void;
}) => <ActForm {...useClockAct(shop)[act]} close={close} />;

/** Advances the clock to a moment. */
export const AdvanceDialog = ({
  clock: { merchantId, shopId },
  stop,
  count,
  close,
}: {
  readonly clock: NonNullable<ClockQuery['testClock']>;
  readonly stop: Stop;
  readonly count: number;
  readonly close: () => void;
}) => {
  const own = useDeveloperWords();
  const { locale } = useWords();
  const [, advance] = useMutation(AdvanceClock);
  return (
    <ActForm
      title={own.clockAdvance}
      consequence={own.clockAdvanceText(exactMoment(stop.at, locale), count)}
      close={close}
      act={async () =>
        outcomeOf(await advance({ merchantId, shopId, to: stop.at }), (data) =>
          ended(data.testClockAdvance, own.clockGoing),
        )
      }
    />
  );
};
