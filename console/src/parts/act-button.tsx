/** A button that names the required role when the person may not use it. */
import type { Permission } from '../viewer.tsx';
import { useWords } from '../words/words.ts';

/** The button. It stays focusable, so that its reason can be read. */
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
  /** Why this object's action is not allowed, whatever the role. */
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
