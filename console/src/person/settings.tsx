/** A person's own settings. */
import { exactMoment } from '../format.ts';
import { PageHead } from '../parts/texts.tsx';
import { PickField } from '../parts/fields.tsx';
import { changeSettings, languages, useSettings } from '../settings.ts';
import { sharedWords } from '../words/shared.ts';
import { optionsOf } from '../words/table.ts';
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
          options={optionsOf(person.themes)}
        />
        <PickField
          label={person.rows}
          value={density}
          set={(chosen) => changeSettings({ density: chosen })}
          options={optionsOf(person.density)}
        />
      </section>
    </>
  );
};
