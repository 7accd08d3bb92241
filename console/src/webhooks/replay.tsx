/** Resends failed webhooks: counted first, then in small batches that can be stopped. */
import { useEffect, useRef, useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { fromZoneField, startOfDay, toZoneField, wholeNumber } from '../format.ts';
import { closeAct } from '../parts/act-form.tsx';
import { Button } from '../parts/button.tsx';
import { Modal } from '../parts/modal.tsx';
import { refusalOf, refusedBy, toldBy, send } from '../parts/outcome.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { webhookWords as own } from '../words/webhooks.ts';
import { words } from '../words/words.ts';

interface OfEndpoint {
  readonly merchantId: string;
  readonly endpointId: string | null;
}

interface Failed extends OfEndpoint {
  readonly mode: 'test' | 'live';
}

interface ReplayProps extends OfEndpoint {
  /** The oldest failure that its button has counted. */
  readonly from: string;
}

const failed_days = 7;

/** Earlier failures are neither counted nor offered. */
export const failedSince = (): string => startOfDay(failed_days).toISOString();

/** Deliveries of one call, which cannot be stopped. */
const part_rows = 200;

type State =
  | { readonly kind: 'asked' }
  | { readonly kind: 'running' | 'stopped' | 'finished'; readonly sent: number }
  | { readonly kind: 'refused'; readonly message: string };

const useReplay = (failed: Failed, since: string) => {
  const [state, setState] = useState<State>({ kind: 'asked' });
  const isStopped = useRef(false);
  useEffect(() => () => void (isStopped.current = true), []);
  const run = async (): Promise<void> => {
    let sent = 0;
    for (let hasMore = true; ;) {
      setState({ kind: 'running', sent });
      const outcome = await send(
        graph.ResendFailed,
        { ...failed, since, limit: part_rows },
        (result) => {
          sent += result.count;
          ({ hasMore } = result);
          return '';
        },
      );
      if (!('done' in outcome)) return setState({ kind: 'refused', message: toldBy(outcome) });
      if (!hasMore) return setState({ kind: 'finished', sent });
      if (isStopped.current) return setState({ kind: 'stopped', sent });
    }
  };
  return { state, run, stop: () => void (isStopped.current = true) };
};

const Count = ({ failed, since }: { readonly failed: Failed; readonly since: string }) => {
  const { data, error } = useAsk(
    graph.FailedDeliveries,
    { ...failed, since },
    { requestPolicy: 'network-only' },
  );
  if (error) return <p className="bad">{toldBy(refusedBy(refusalOf(error)))}</p>;
  if (!data) return <p className="quiet">{own.counting}</p>;
  const total = data.webhookDeliveries.totalCount;
  const count = wholeNumber(total?.count ?? 0);
  if (!total || total.count === 0) return <p>{own.countNone}</p>;
  return <p>{total.isExact ? own.count(count) : own.countMore(count)}</p>;
};

export const ReplayDialog = ({ from, ...of }: ReplayProps) => {
  const failed = { ...of, mode: useAddress().mode };
  const [since, setSince] = useState(from);
  const { state, run, stop } = useReplay(failed, since);
  const sent = 'sent' in state ? wholeNumber(state.sent) : '';
  return (
    <Modal title={own.replayTitle} onClose={closeAct}>
      {state.kind === 'asked' && (
        <>
          <label className="field">
            {own.since}
            <input
              type="datetime-local"
              defaultValue={toZoneField(new Date(since))}
              onChange={({ target }) => {
                const at = fromZoneField(target.value);
                if (at) setSince(at.toISOString());
              }}
            />
          </label>
          <Count failed={failed} since={since} />
        </>
      )}
      <div role="status">
        {state.kind === 'running' && <p>{own.progress(sent)}</p>}
        {state.kind === 'stopped' && <p>{own.stopped(sent)}</p>}
        {state.kind === 'finished' && <p className="done">{own.finished(sent)}</p>}
        {state.kind === 'refused' && <p className="bad">{state.message}</p>}
      </div>
      <footer className="dialog-foot">
        <Button press={closeAct}>{words.close}</Button>
        {state.kind === 'asked' && (
          <Button isMain press={() => void run()}>
            {own.go}
          </Button>
        )}
        {state.kind === 'running' && <Button press={stop}>{words.exports.stop}</Button>}
      </footer>
    </Modal>
  );
};
