/** A person's own settings. */
import { exactMoment } from '../format.ts';
import { PageHead } from '../parts/texts.tsx';
import { PickField } from '../parts/fields.tsx';
import { changeSettings, densities, languages, themes, useSettings } from '../settings.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

export const SettingsPage = () => {
  const words = useWords();
  const own = useSharedWords();
  const { person } = words;
  const { theme, language, density, zone } = useSettings();
  return (
    <>
      <PageHead name={own.settings}>
        <p className="quiet">{own.settingsText}</p>
      </PageHead>
      <section className="card settings">
        <PickField
          label={person.language}
          value={language}
          set={(chosen) => changeSettings({ language: chosen })}
          options={languages}
        />
        <PickField
          label={own.zone}
          value={zone ?? ''}
          set={(chosen) => changeSettings({ zone: chosen === '' ? null : chosen })}
          options={[
            ['', own.zoneOwn(ownZone)] as const,
            ...zones.map((one) => [one, one.replaceAll('_', ' ')] as const),
          ]}
        />
        <p className="quiet" role="status">
          {own.zoneText(exactMoment(new Date().toISOString(), words.locale))}
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
