/** The shared parts of the policy screens: an add button, a dialog, a button on each row. */
import type { ReactNode } from 'react';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import type { Outcome } from '../parts/outcome.ts';
import type { Permission } from '../viewer.tsx';
import { useSharedWords } from '../words/shared.ts';

/** The button above a list. */
export const AddBar = ({
  permission,
  onPress,
  children,
}: {
  readonly permission: Permission;
  readonly onPress: () => void;
  readonly children: string;
}) => (
  <div className="acts">
    <ActButton permission={permission} isMain onPress={onPress}>
      {children}
    </ActButton>
  </div>
);

interface PolicyFormProps {
  readonly title: string;
  readonly consequence: string;
  readonly isReady?: boolean;
  readonly act: () => Promise<Outcome>;
  readonly close: () => void;
  readonly children?: ReactNode;
  /** Shown after success. */
  readonly result?: ReactNode;
  /** Whether a second press may repeat the action. */
  readonly isRepeated?: boolean;
  /** Whether this action was sent before without an answer. */
  readonly isPending?: boolean;
  /** Reloads the subject when the outcome is unknown. */
  readonly again?: (() => void) | undefined;
}

/** A dialog that also says that the action is in the audit log. */
export const PolicyForm = ({ children, ...form }: PolicyFormProps) => {
  const { audited } = useSharedWords();
  return (
    <ActForm {...form}>
      {children}
      <p className="quiet">{audited}</p>
    </ActForm>
  );
};
