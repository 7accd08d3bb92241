/** A person's own settings. */
import { exactMoment } from '../format.ts';
import { PageHead } from '../parts/texts.tsx';
import { PickField } from '../parts/fields.tsx';
import { changeSettings, densities, languages, themes, useSettings } from '../settings.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

export const SettingsPage = () => {
  const { person } = words;
  const { theme, language, density, zone } = useSettings();
  return (
    <>
      <PageHead name={sharedWords.settings}>
        <p className="quiet">{sharedWords.settingsText}</p>
      </PageHead>
      <section className="card settings">
        <PickField
          label={person.language}
          value={language}
          set={(chosen) => changeSettings({ language: chosen })}
          options={languages}
        />
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
        <PickField
          label={person.theme}
          value={theme}
          set={(chosen) => changeSettings({ theme: chosen })}
          options={themes.map((one) => [one, person.themes[one]] as const)}
        />
        <PickField
          label={person.rows}
          value={density}
          set={(chosen) => changeSettings({ density: chosen })}
          options={densities.map((one) => [one, person.density[one]] as const)}
        />
      </section>
    </>
  );
};
