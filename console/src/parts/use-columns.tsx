/** The columns that the person has chosen for a list, stored in the browser. */
import { useMemo } from 'react';
import { changeSettings, useSettings } from '../settings.ts';
import { useSharedWords } from '../words/shared.ts';
import { Icon } from './icon.tsx';
import { PopoverButton } from './popover-button.tsx';
import type { Column } from './column.ts';

const idOf = <Row,>({ id }: Column<Row>, place: number): string => id ?? String(place);

/** The visible columns, and a function to change them; stable while `all` is. */
export const useColumns = <Row,>(list: string, all: readonly Column<Row>[]) => {
  const { columns } = useSettings();
  const kept = columns[list];
  const { usual, chosen, shown } = useMemo(() => {
    const ids = all.map(idOf).filter((_, place) => all[place]?.isExtra !== true);
    const of = (names: readonly string[]) =>
      all.filter((column, place) => names.includes(idOf(column, place)));
    const found = of(kept ?? ids);
    // Without any column the defaults apply.
    const or = found.length === 0 ? of(ids) : found;
    return { usual: ids, chosen: kept ?? ids, shown: or };
  }, [all, kept]);
  const change = (ids: readonly string[]): void =>
    changeSettings({ columns: { ...columns, [list]: ids } });
  return {
    shown,
    choice: all.map((column, place) => {
      const id = idOf(column, place);
      return { id, name: column.name, isOn: chosen.includes(id) };
    }),
    toggle: (id: string) =>
      change(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]),
    reset: () => change(usual),
  };
};

/** The button, and its list of columns. */
export const ColumnsButton = ({
  choice,
  toggle,
  reset,
}: Pick<ReturnType<typeof useColumns>, 'choice' | 'toggle' | 'reset'>) => {
  const own = useSharedWords();
  return (
    <PopoverButton
      className="button columns-button"
      title={own.columns}
      face={
        <>
          <Icon name="sides" />
          {own.columns}
        </>
      }
    >
      {() => (
        <>
          <fieldset className="options">
            <legend>{own.columns}</legend>
            {choice.map(({ id, name, isOn }) => (
              <label key={id}>
                <input type="checkbox" checked={isOn} onChange={() => toggle(id)} />
                {name}
              </label>
            ))}
          </fieldset>
          <p className="quiet">{own.columnsText}</p>
          <button type="button" className="button" onClick={reset}>
            {own.usual}
          </button>
        </>
      )}
    </PopoverButton>
  );
};
