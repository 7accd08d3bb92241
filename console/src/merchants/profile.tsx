/** Who a merchant is: what buyers see of it, and the form that changes it. */
import * as graph from '../../../schema/generated/console.ts';
import { actButton } from '../parts/act-form.tsx';
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

type ProfileTexts = Readonly<Record<Field, string>>;

const perField = <Of,>(of: (field: Field) => Of) =>
  // Each field has its own.
  Object.fromEntries(fields.map((field) => [field, of(field)])) as Readonly<Record<Field, Of>>;

/** What is typed of a profile; null is an empty field. */
const textsOf = (profile: Partial<Profile>): ProfileTexts =>
  perField((field) => profile[field] ?? '');

export const noProfile = textsOf({});

/** The profile as the service takes it. A Russian number that begins with 8 gets its country. */
export const givenProfile = (texts: ProfileTexts): Record<Field, string> => {
  const phone = texts.contactPhone.replaceAll(/[\s()-]/g, '');
  const contactPhone = /^[78]\d{10}$/.test(phone) ? `+7${phone.slice(1)}` : phone;
  return { ...texts, inn: texts.inn.replaceAll(/\s/g, ''), contactPhone };
};

const specOf = (field: Field) => {
  const { innHint: inn, phoneHint: contactPhone, urlHint } = own;
  const hints: Partial<Record<Field, string>> = {
    inn,
    contactPhone,
    siteUrl: urlHint,
    offerUrl: urlHint,
  };
  return { label: own[field], hint: hints[field] ?? '', isNumber: field === 'inn' };
};

export const ProfileFields = ({
  texts,
  set,
}: {
  readonly texts: ProfileTexts;
  readonly set: (texts: ProfileTexts) => void;
}) =>
  fields.map((field) => (
    <TextField
      key={field}
      {...specOf(field)}
      value={texts[field]}
      set={(text) => set({ ...texts, [field]: text })}
    />
  ));

interface OfMerchant {
  readonly merchant: { readonly id: string; readonly profile: Profile };
}

export const ProfileCard = ({ merchant: { id: merchantId, profile } }: OfMerchant) => {
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
          isAudited: true,
          consequence: own.editText,
          fields: perField((field) => ({
            ...specOf(field),
            initial: texts[field],
            isOptional: true,
          })),
          act: (typed) =>
            send(graph.SetProfile, { merchantId, profile: givenProfile(typed) }, own.done),
        })}
      </div>
    </section>
  );
};
