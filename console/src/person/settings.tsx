/** A person's own settings. */
import { exactMoment } from '../format.ts';
import { PageHead } from '../parts/texts.tsx';
import { PickField } from '../parts/fields.tsx';
import { changeSettings, useSettings } from '../settings.ts';
import { sharedWords } from '../words/shared.ts';
import { useLooks } from './looks.ts';

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

export const SettingsPage = () => {
  const { theme, language, density } = useLooks();
  const { zone } = useSettings();
  return (
    <>
      <PageHead name={sharedWords.settings}>
        <p className="quiet">{sharedWords.settingsText}</p>
      </PageHead>
      <section className="card settings">
        <PickField {...language} />
        <PickField
          label={sharedWords.zone}
          value={zone ?? ''}
          set={(chosen) => changeSettings({ zone: chosen === '' ? null : chosen })}
          options={[
            ['', sharedWords.zoneOwn(ownZone)] as const,
            ...zones.map((one) => [one, one.replaceAll('_', ' ')] as const),
          ]}
        />
        <p className="quiet" role="status">
          {sharedWords.zoneText(exactMoment(new Date().toISOString()))}
        </p>
        <PickField {...theme} />
        <PickField {...density} />
      </section>
    </>
  );
};
