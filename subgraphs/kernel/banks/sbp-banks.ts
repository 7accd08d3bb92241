/** The SBP directory. Contract GET /v1/public/banks/sbp: sorted by name; a helper for forms, not an allow-list. */
import participants from './sbp-banks.json' with { type: 'json' };

export interface SbpBank {
  /** 12 digits. */
  readonly memberId: string;
  readonly name: string;
  readonly nameEn: string;
}

const byName = new Intl.Collator('ru', { sensitivity: 'base', numeric: true });

/** Every participant, sorted by its name in Russian. */
export const sbpBanks: readonly SbpBank[] = participants
  .map(({ member_id: memberId, name, name_en: nameEn }) => ({ memberId, name, nameEn }))
  .toSorted((a, b) => byName.compare(a.name, b.name));
