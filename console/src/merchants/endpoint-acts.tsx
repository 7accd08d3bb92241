/** An endpoint of a shop, and its actions. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  ChangeEndpoint,
  DeleteEndpoint,
  DisableEndpoint,
  EnableEndpoint,
  RotateEndpointSecret,
  type MerchantQuery,
  type WebhookEvent,
} from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ended, outcomeOf } from '../parts/outcome.ts';
import { TextField } from '../parts/fields.tsx';
import { PolicyForm } from '../policies/act.tsx';
import { usePermission } from '../viewer.tsx';
import { useSettingsWords } from '../words/merchant-settings.ts';
import { useWords } from '../words/words.ts';
import { RotateDialog } from './rotate.tsx';
import { SchemeField } from './scheme-field.tsx';
import { eventName, webhookEvents } from '../webhooks/webhook-events.ts';

type Shop = NonNullable<MerchantQuery['merchant']>['shops'][number];
type Endpoint = Shop['webhookEndpoints'][number];
interface DialogProps {
  readonly merchantId: string;
  readonly endpoint: Endpoint;
  readonly close: () => void;
}

const EditDialog = ({ merchantId, endpoint, close }: DialogProps) => {
  const own = useSettingsWords();
  const [url, setUrl] = useState(endpoint.url);
  const [events, setEvents] = useState<readonly WebhookEvent[]>(endpoint.events);
  const [signature, setSignature] = useState(endpoint.signature);
  const [, save] = useMutation(ChangeEndpoint);
  const { id } = endpoint;
  return (
    <PolicyForm
      title={own.edit}
      consequence={own.editText}
      isReady={URL.canParse(url)}
      close={close}
      act={async () =>
        outcomeOf(await save({ merchantId, id, url, events: [...events], signature }), (data) =>
          ended(data.webhookEndpointUpdate, own.done),
        )
      }
    >
      <TextField label={own.url} value={url} set={setUrl} />
      <fieldset className="options">
        <legend>{own.events}</legend>
        {webhookEvents.map((event) => (
          <label key={event}>
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={({ target }) =>
                setEvents(
                  target.checked ? [...events, event] : events.filter((one) => one !== event),
                )
              }
            />
            {eventName(event)}
          </label>
        ))}
      </fieldset>
      <p className="quiet">{own.eventsHint}</p>
      <SchemeField value={signature} set={setSignature} />
    </PolicyForm>
  );
};

const SwitchDialog = ({ merchantId, endpoint: { id, active }, close }: DialogProps) => {
  const own = useSettingsWords();
  const [, enable] = useMutation(EnableEndpoint);
  const [, disable] = useMutation(DisableEndpoint);
  return (
    <PolicyForm
      title={active ? own.disable : own.enable}
      consequence={active ? own.disableText : own.enableText}
      close={close}
      act={async () =>
        active
          ? outcomeOf(await disable({ merchantId, id }), (data) =>
              ended(data.webhookEndpointDisable, own.done),
            )
          : outcomeOf(await enable({ merchantId, id }), (data) =>
              ended(data.webhookEndpointEnable, own.done),
            )
      }
    />
  );
};

const DeleteDialog = ({ merchantId, endpoint: { id, url }, close }: DialogProps) => {
  const own = useSettingsWords();
  const [, remove] = useMutation(DeleteEndpoint);
  return (
    <PolicyForm
      title={own.remove}
      consequence={`${url}. ${own.removeText}`}
      close={close}
      act={async () =>
        outcomeOf(await remove({ merchantId, id }), (data) =>
          ended(data.webhookEndpointDelete, own.done),
        )
      }
    />
  );
};

const SecretDialog = ({ merchantId, endpoint: { id, url, signature }, close }: DialogProps) => {
  const [, rotate] = useMutation(RotateEndpointSecret);
  return (
    <RotateDialog
      of={url}
      isStandard={signature === 'standard'}
      close={close}
      rotate={async (overlapHours) => {
        const { data, error } = await rotate({ merchantId, id, overlapHours });
        return { result: data?.webhookEndpointSecretRotate, error };
      }}
    />
  );
};

const dialogs = {
  edit: EditDialog,
  switch: SwitchDialog,
  secret: SecretDialog,
  remove: DeleteDialog,
} as const;

/** The line of an endpoint. */
export const EndpointLine = ({
  merchantId,
  endpoint,
  again,
}: Omit<DialogProps, 'close'> & { readonly again: () => void }) => {
  const { merchants } = useWords();
  const own = useSettingsWords();
  const edit = usePermission('webhookEndpointUpdate');
  const onOff = usePermission(endpoint.active ? 'webhookEndpointDisable' : 'webhookEndpointEnable');
  const secret = usePermission('webhookEndpointSecretRotate');
  const remove = usePermission('webhookEndpointDelete');
  const [opened, setOpened] = useState<{
    readonly act: keyof typeof dialogs;
    readonly endpoint: Endpoint;
  } | null>(null);
  const Dialog = opened && dialogs[opened.act];
  const { url, events, active, signature } = endpoint;
  const open = (act: keyof typeof dialogs) => () => setOpened({ act, endpoint });
  return (
    <li data-over={!active}>
      <span className="stack">
        <span className="break">{url}</span>
        <span className="quiet">
          {!active && `${own.inactive} · `}
          {events.length === 0 ? merchants.allEvents : events.map(eventName).join(', ')}
        </span>
        <span className="quiet">
          {own.signature}: {own.schemes[signature]}
        </span>
      </span>
      <div className="acts">
        <ActButton permission={edit} onPress={open('edit')}>
          {own.edit}
        </ActButton>
        <ActButton permission={onOff} onPress={open('switch')}>
          {active ? own.disable : own.enable}
        </ActButton>
        <ActButton permission={secret} onPress={open('secret')}>
          {own.rotate}
        </ActButton>
        <ActButton permission={remove} onPress={open('remove')}>
          {own.remove}
        </ActButton>
      </div>
      {opened && Dialog && (
        <Dialog
          merchantId={merchantId}
          endpoint={opened.endpoint}
          close={() => {
            setOpened(null);
            again();
          }}
        />
      )}
    </li>
  );
};
