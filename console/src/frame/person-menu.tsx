/** The person's menu: identity, appearance, logout. */
import { Header, Menu, MenuItem, MenuSection, Separator } from 'react-aria-components';
import { useNavigate } from '@tanstack/react-router';
import { nothingKept } from '../address.ts';
import type { PickField } from '../parts/fields.tsx';
import { useLooks } from '../person/looks.ts';
import { logOut, usePermission, useViewer } from '../viewer.tsx';
import { peopleWords as own } from '../words/people.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { setShortcuts } from './shortcuts.tsx';

const Choice = <Value extends string>({
  label,
  options,
  value: chosen,
  set,
}: Parameters<typeof PickField<Value>>[0]) => (
  <MenuSection
    selectionMode="single"
    disallowEmptySelection
    selectedKeys={[chosen]}
    onSelectionChange={(keys) => {
      const found = options.find(([value]) => keys !== 'all' && keys.has(value));
      if (found) set(found[0]);
    }}
  >
    <Header className="menu-head">{label}</Header>
    {options.map(([value, name]) => (
      <MenuItem key={value} id={value} className="menu-item">
        {name}
      </MenuItem>
    ))}
  </MenuSection>
);

const useAct = () => {
  const navigate = useNavigate();
  return (key: string | number): void => {
    if (key === 'out') void logOut();
    if (key === 'keys') setShortcuts(true);
    if (key === 'settings') void navigate({ to: '/settings', search: nothingKept });
    if (key === 'people') void navigate({ to: '/people', search: nothingKept });
  };
};

export const PersonMenu = ({ close }: { readonly close: () => void }) => {
  const { person } = words;
  const { theme, language, density } = useLooks();
  const { subject, role } = useViewer();
  const mayEnd = usePermission('personSessionEnd');
  const act = useAct();
  return (
    <>
      <p className="menu-person">
        <strong>{subject}</strong>
        <span className="quiet">{person.roles[role]}</span>
      </p>
      <Menu
        className="menu"
        aria-label={person.label}
        autoFocus="first"
        onAction={act}
        onClose={close}
      >
        <Choice {...theme} />
        <Choice {...language} />
        <Choice {...density} />
        <Separator className="menu-line" />
        <MenuItem id="settings" className="menu-item">
          {sharedWords.settings}
        </MenuItem>
        {mayEnd.granted && (
          <MenuItem id="people" className="menu-item">
            {own.title}
          </MenuItem>
        )}
        <MenuItem id="keys" className="menu-item">
          {words.shortcuts.title}
        </MenuItem>
        <MenuItem id="out" className="menu-item">
          {person.logOut}
        </MenuItem>
      </Menu>
    </>
  );
};
