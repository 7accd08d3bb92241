/** A button that the person may use, or that says who may. */
import type { Permission } from '../viewer.tsx';
import { useWords } from '../words/words.ts';

/** The button. It stays in reach of the keyboard, so that its reason can be read. */
export const ActButton = ({
  permission,
  onPress,
  isMain = false,
  barred,
  children,
}: {
  readonly permission: Permission;
  readonly onPress: () => void;
  readonly isMain?: boolean;
  /** Why this very thing is not for the person, whatever the role. */
  readonly barred?: string;
  readonly children: string;
}) => {
  const words = useWords();
  const { needs } = permission;
  const granted = permission.granted && barred === undefined;
  const role = needs === null ? words.acts.platform : words.acts.needs(words.person.roles[needs]);
  const why = permission.granted ? barred : role;
  return (
    <button
      type="button"
      className={isMain ? 'button main' : 'button'}
      aria-disabled={!granted}
      title={granted ? undefined : why}
      onClick={() => {
        if (granted) onPress();
      }}
    >
      {children}
      {!granted && <span className="unseen">. {why}</span>}
    </button>
  );
};
