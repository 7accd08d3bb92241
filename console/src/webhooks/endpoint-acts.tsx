/** What is done with an endpoint of a shop: added, changed, switched, rotated, removed. */
import { useState, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { secretOverlap_max_h } from '../../../schema/limits.ts';
import {
  PolicyForm,
  useActs,
  type Again,
  type Closable,
  type MerchantDialog,
} from '../parts/act-form.tsx';
import { CheckList, PickField, ShopPick, TextField, type Held } from '../parts/fields.tsx';
import { type Outcome, send } from '../parts/outcome.tsx';
import { settingsWords as own } from '../words/merchant-settings.ts';
import { sharedWords } from '../words/shared.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

/* The kinds of webhook events. */

export const webhookEvents = Object.values(graph.WebhookEvent);

/** As it stands in a webhook: `payment.succeeded`. */
export const eventName = (event: graph.WebhookEvent): string => event.replace('_', '.');

const SchemeField = ({ value, set }: Held<graph.WebhookSignature>) => (
  <>
    <PickField label={own.signature} value={value} set={set} options={optionsOf(own.schemes)} />
    <p className="quiet">{value === 'legacy' ? own.schemeLegacy : own.schemeHint}</p>
  </>
);

type Endpoint = NonNullable<
  graph.MerchantQuery['merchant']
>['shops'][number]['webhookEndpoints'][number];
type DialogProps = MerchantDialog & { readonly endpoint: Endpoint };

const EventsField = ({ value, set }: Held<readonly graph.WebhookEvent[]>) => (
  <>
    <CheckList
      className="options columns"
      label={own.events}
      value={value}
      set={set}
      options={webhookEvents.map((event) => [event, eventName(event)])}
    />
    <p className="quiet">{own.eventsHint}</p>
  </>
);

interface Shop {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
}

/** Adds an endpoint to one of the shops; its secret is shown once. */
export const AddEndpointDialog = ({
  shops,
  close,
}: Closable & { readonly shops: readonly [Shop, ...Shop[]] }) => {
  const [shopId, setShopId] = useState(shops[0].id);
  const [url, setUrl] = useState('https://');
  const [events, setEvents] = useState<readonly graph.WebhookEvent[]>([]);
  const [signature, setSignature] = useState<graph.WebhookSignature>('v2');
  const { merchantId } = shops[0];
  return (
    <PolicyForm
      title={words.merchants.addEndpoint}
      consequence={words.merchants.endpointText}
      isReady={URL.canParse(url)}
      close={close}
      isRepeated
      act={() =>
        send(
          graph.AddEndpoint,
          { merchantId, shopId, url, events: [...events], signature },
          (result) => ({
            done: words.merchants.endpointSecret,
            copy: signature === 'standard' ? result.standardSecret : result.secret,
          }),
        )
      }
    >
      {shops.length > 1 && (
        <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={setShopId} />
      )}
      <TextField label={words.columns.address} value={url} set={setUrl} />
      <EventsField value={events} set={setEvents} />
      <SchemeField value={signature} set={setSignature} />
    </PolicyForm>
  );
};

const EditDialog = ({ merchantId, endpoint, close }: DialogProps) => {
  const [url, setUrl] = useState(endpoint.url);
  const [events, setEvents] = useState<readonly graph.WebhookEvent[]>(endpoint.events);
  const [signature, setSignature] = useState(endpoint.signature);
  const { id } = endpoint;
  return (
    <PolicyForm
      title={own.edit}
      consequence={own.editText}
      isReady={URL.canParse(url)}
      close={close}
      act={() =>
        send(
          graph.ChangeEndpoint,
          { merchantId, id, url, events: [...events], signature },
          own.done,
        )
      }
    >
      <TextField label={words.columns.address} value={url} set={setUrl} />
      <EventsField value={events} set={setEvents} />
      <SchemeField value={signature} set={setSignature} />
    </PolicyForm>
  );
};

interface Rotated {
  readonly secret: string;
  readonly standardSecret?: string | null | undefined;
}

interface HoursTyped {
  readonly hours: string;
}

/** The act; `of` names what the secret signs, `rotate` requests the new one and shows it. */
export const rotateAct = (
  of: string,
  rotate: (
    overlapHours: number,
    show: (rotated: Rotated) => { readonly done: string; readonly copy: string },
  ) => Promise<Outcome>,
  /** Whether it is shown in the form of Standard Webhooks. */
  isStandard = false,
) => ({
  title: own.rotate,
  Form: PolicyForm,
  consequence: own.rotateText(of),
  isRepeated: true,
  fields: {
    hours: { label: own.overlap, hint: own.overlapHint, initial: '0', isNumber: true },
  },
  fits: ({ hours }: HoursTyped) =>
    Number.isInteger(Number(hours)) && Number(hours) >= 0 && Number(hours) <= secretOverlap_max_h,
  act: ({ hours }: HoursTyped) =>
    rotate(Number(hours), (rotated) => ({
      done: sharedWords.secretOnce,
      copy: (isStandard ? rotated.standardSecret : null) ?? rotated.secret,
    })),
});

export const EndpointTerms = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { events, signature } = endpoint;
  return (
    <>
      <span className="quiet">
        {events.length === 0 ? words.merchants.allEvents : events.map(eventName).join(', ')}
      </span>
      <span className="quiet">
        {own.signature}: {own.schemes[signature]}
      </span>
    </>
  );
};

export const EndpointActs = ({
  merchantId,
  endpoint,
  again,
  children,
}: Omit<DialogProps, 'close'> & Again & { readonly children?: ReactNode }) => {
  const { button, dialog } = useActs(again);
  const { id, url, active, signature } = endpoint;
  return (
    <div className="acts">
      {children}
      {button({
        permission: 'webhookEndpointUpdate',
        title: own.edit,
        dialog: (close) => <EditDialog {...{ merchantId, endpoint, close }} />,
      })}
      {button({
        permission: active ? 'webhookEndpointDisable' : 'webhookEndpointEnable',
        title: active ? own.disable : own.enable,
        Form: PolicyForm,
        consequence: active ? own.disableText : own.enableText,
        act: () =>
          active
            ? send(graph.DisableEndpoint, { merchantId, id }, own.done)
            : send(graph.EnableEndpoint, { merchantId, id }, own.done),
      })}
      {button({
        permission: 'webhookEndpointSecretRotate',
        ...rotateAct(
          url,
          (overlapHours, show) =>
            send(graph.RotateEndpointSecret, { merchantId, id, overlapHours }, show),
          signature === 'standard',
        ),
      })}
      {button({
        permission: 'webhookEndpointDelete',
        title: own.remove,
        Form: PolicyForm,
        consequence: `${url}. ${own.removeText}`,
        act: () => send(graph.DeleteEndpoint, { merchantId, id }, own.done),
      })}
      {dialog}
    </div>
  );
};

export const EndpointLine = ({
  merchantId,
  endpoint,
  again,
}: Omit<DialogProps, 'close'> & Again) => {
  const { url, active } = endpoint;
  return (
    <li data-over={!active}>
      <span className="stack">
        <span className="break">{url}</span>
        {!active && <span className="quiet">{own.inactive}</span>}
        <EndpointTerms endpoint={endpoint} />
      </span>
      <EndpointActs merchantId={merchantId} endpoint={endpoint} again={again} />
    </li>
  );
};
