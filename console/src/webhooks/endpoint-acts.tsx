/** What is done with an endpoint of a shop: added, changed, switched, rotated, removed. */
import { useState, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { secretOverlap_max_h } from '../../../schema/limits.ts';
import { ActForm, actButton } from '../parts/act-form.tsx';
import { CheckList, PickField, ShopPick, TextField, useTyped } from '../parts/fields.tsx';
import { shownOnce, type Outcome, send } from '../parts/outcome.tsx';
import { settingsWords as own } from '../words/merchant-settings.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

/* The kinds of webhook events. */

export const webhookEvents = Object.values(graph.WebhookEvent);

/** As it stands in a webhook: `payment.succeeded`. */
export const eventName = (event: graph.WebhookEvent): string => event.replace('_', '.');

type Endpoint = graph.EndpointRowFragment;
interface OfEndpoint {
  readonly endpoint: Endpoint;
}

type Terms = Pick<Endpoint, 'url' | 'signature'> & {
  readonly events: readonly graph.WebhookEvent[];
};

const newTerms: Terms = { url: 'https://', events: [], signature: 'v2' };

/** The form of an endpoint's terms; `children` stand before them. */
const TermsForm = ({
  terms = newTerms,
  save,
  children,
  ...form
}: Omit<Parameters<typeof ActForm>[0], 'act'> & {
  readonly terms?: Terms;
  readonly save: (terms: Pick<Endpoint, keyof Terms>) => Promise<Outcome>;
}) => {
  const { url, events, signature } = terms;
  const { typed, held } = useTyped<Terms>({ url, events, signature });
  return (
    <ActForm
      isAudited
      {...form}
      isReady={URL.canParse(typed.url)}
      act={() => save({ ...typed, events: [...typed.events] })}
    >
      {children}
      <TextField label={words.columns.address} {...held('url')} />
      <CheckList
        className="options columns"
        label={own.events}
        {...held('events')}
        options={webhookEvents.map((event) => [event, eventName(event)])}
      />
      <p className="quiet">{own.eventsHint}</p>
      <PickField label={own.signature} {...held('signature')} options={optionsOf(own.schemes)} />
      <p className="quiet">{typed.signature === 'legacy' ? own.schemeLegacy : own.schemeHint}</p>
    </ActForm>
  );
};

interface Shop {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
}

/** Adds an endpoint to one of the shops; its secret is shown once. */
export const AddEndpointDialog = ({ shops }: { readonly shops: readonly [Shop, ...Shop[]] }) => {
  const [shopId, setShopId] = useState(shops[0].id);
  const { merchantId } = shops[0];
  return (
    <TermsForm
      title={words.merchants.addEndpoint}
      consequence={words.merchants.endpointText}
      isRepeated
      save={(terms) =>
        send(graph.AddEndpoint, { merchantId, shopId, ...terms }, (result) => ({
          done: words.merchants.endpointSecret,
          copy: terms.signature === 'standard' ? result.standardSecret : result.secret,
        }))
      }
    >
      {shops.length > 1 && (
        <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={setShopId} />
      )}
    </TermsForm>
  );
};

interface HoursTyped {
  readonly hours: string;
}

/** The act; `of` names what the secret signs, `rotate` requests the new one and shows it. */
export const rotateAct = (of: string, rotate: (overlapHours: number) => Promise<Outcome>) => ({
  title: own.rotate,
  isAudited: true,
  consequence: own.rotateText(of),
  isRepeated: true,
  fields: {
    hours: { label: own.overlap, hint: own.overlapHint, initial: '0', isNumber: true },
  },
  fits: ({ hours }: HoursTyped) =>
    Number.isInteger(Number(hours)) && Number(hours) >= 0 && Number(hours) <= secretOverlap_max_h,
  act: ({ hours }: HoursTyped) => rotate(Number(hours)),
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
  endpoint,
  children,
}: OfEndpoint & { readonly children?: ReactNode }) => {
  const { merchantId, id, url, active, signature } = endpoint;
  return (
    <div className="acts">
      {children}
      {actButton({
        permission: 'webhookEndpointUpdate',
        title: own.edit,
        dialog: (
          <TermsForm
            title={own.edit}
            consequence={own.editText}
            terms={endpoint}
            save={(terms) => send(graph.ChangeEndpoint, { merchantId, id, ...terms }, own.done)}
          />
        ),
      })}
      {actButton({
        permission: active ? 'webhookEndpointDisable' : 'webhookEndpointEnable',
        title: active ? own.disable : own.enable,
        isAudited: true,
        consequence: active ? own.disableText : own.enableText,
        act: () =>
          active
            ? send(graph.DisableEndpoint, { merchantId, id }, own.done)
            : send(graph.EnableEndpoint, { merchantId, id }, own.done),
      })}
      {actButton({
        permission: 'webhookEndpointSecretRotate',
        ...rotateAct(url, (overlapHours) =>
          send(graph.RotateEndpointSecret, { merchantId, id, overlapHours }, (rotated) =>
            shownOnce(signature === 'standard' ? rotated.standardSecret : rotated.secret),
          ),
        ),
      })}
      {actButton({
        permission: 'webhookEndpointDelete',
        title: own.remove,
        isAudited: true,
        consequence: `${url}. ${own.removeText}`,
        act: () => send(graph.DeleteEndpoint, { merchantId, id }, own.done),
      })}
    </div>
  );
};

export const EndpointLine = ({ endpoint }: OfEndpoint) => {
  const { url, active } = endpoint;
  return (
    <li data-over={!active}>
      <span className="stack">
        <span className="break">{url}</span>
        {!active && <span className="quiet">{own.inactive}</span>}
        <EndpointTerms endpoint={endpoint} />
      </span>
      <EndpointActs endpoint={endpoint} />
    </li>
  );
};
