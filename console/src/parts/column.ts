/** A column of a list. */
import type { ReactNode } from 'react';

export interface Column<Row> {
  /** Its name in the person's choice of columns; without one its place. */
  readonly id?: string;
  /** Shown only when the person chooses it. */
  readonly isExtra?: boolean;
  readonly name: string;
  readonly isNumber?: boolean;
  /** Left out on a narrow screen, and dropped where the table has no room for it. */
  readonly isWide?: boolean;
  /** On a narrow screen its name is shown: the value does not explain itself. */
  readonly isNamed?: boolean;
  readonly cell: (row: Row) => ReactNode;
}
