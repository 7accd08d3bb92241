/** Who a merchant is: what buyers see of it, and the form that changes it. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { ActForm, actButton } from '../parts/act-form.tsx';
import { Facts } from '../parts/texts.tsx';
import { TextField } from '../parts/fields.tsx';
import { send } from '../parts/outcome.tsx';
import { profileWords as own } from '../words/merchant-settings.ts';

type Profile = NonNullable<graph.MerchantQuery['merchant']>['profile'];
type Field = Exclude<keyof Profile, '__typename'>;

const fields = [
  'legalName',
  'inn',
  'contactEmail',
  'contactPhone',
  'siteUrl',
  'offerUrl',
] as const satisfies readonly Field[];

export type ProfileTexts = Readonly<Record<Field, string>>;

/** What is typed of a profile; null is an empty field. */
const textsOf = (profile: Partial<Profile>): ProfileTexts =>
  // Each field has its text.
  Object.fromEntries(fields.map((field) => [field, profile[field] ?? ''])) as ProfileTexts;

export const noProfile = textsOf({});

/** The profile as the service takes it. A Russian number that begins with 8 gets its country. */
export const givenProfile = (texts: ProfileTexts): Record<Field, string> => {
  const phone = texts.contactPhone.replaceAll(/[\s()-]/g, '');
  const contactPhone = /^[78]\d{10}$/.test(phone) ? `+7${phone.slice(1)}` : phone;
  return { ...texts, inn: texts.inn.replaceAll(/\s/g, ''), contactPhone };
};

export const ProfileFields = ({
  texts,
  set,
}: {
  readonly texts: ProfileTexts;
  readonly set: (texts: ProfileTexts) => void;
}) => {
  const hints: Partial<Record<Field, string>> = {
    inn: own.innHint,
    contactPhone: own.phoneHint,
    siteUrl: own.urlHint,
    offerUrl: own.urlHint,
  };
  return fields.map((field) => (
    <TextField
      key={field}
      label={own[field]}
      value={texts[field]}
      set={(text) => set({ ...texts, [field]: text })}
      hint={hints[field] ?? ''}
      isNumber={field === 'inn'}
    />
  ));
};

interface OfMerchant {
  readonly merchant: { readonly id: string; readonly profile: Profile };
}

const ProfileDialog = ({ merchant: { id: merchantId, profile } }: OfMerchant) => {
  const [texts, setTexts] = useState(() => textsOf(profile));
  return (
    <ActForm
      isAudited
      title={own.edit}
      consequence={own.editText}
      act={() => send(graph.SetProfile, { merchantId, profile: givenProfile(texts) }, own.done)}
    >
      <ProfileFields texts={texts} set={setTexts} />
    </ActForm>
  );
};

export const ProfileCard = ({ merchant }: OfMerchant) => {
  const { profile } = merchant;
  const texts = textsOf(profile);
  const isKnown = fields.some((field) => texts[field] !== '');
  return (
    <section className="card">
      <h2>{own.title}</h2>
      <p className="quiet">{isKnown ? own.text : own.none}</p>
      <Facts
        facts={fields.map((field) => [
          own[field],
          profile[field] !== null && field.endsWith('Url') ? (
            <a href={profile[field]} target="_blank" rel="noreferrer">
              {profile[field]}
            </a>
          ) : (
            texts[field]
          ),
        ])}
      />
      <div className="acts">
        {actButton({
          permission: 'merchantProfileSet',
          title: own.edit,
          dialog: <ProfileDialog merchant={merchant} />,
        })}
      </div>
    </section>
  );
};
