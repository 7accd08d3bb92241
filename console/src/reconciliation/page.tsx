/** Registries of acquirers, and their differences from our operations. */
import { Empty } from '../parts/states.tsx';
import { Tabs, useTab } from '../parts/tabs.tsx';
import { usePermission } from '../viewer.tsx';
import { useReconciliationWords } from '../words/reconciliation.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { DifferencesPart } from './differences.tsx';
import { RunsPart } from './runs.tsx';

const tabs = ['differences', 'runs'] as const;

/** The screen. */
export const ReconciliationPage = () => {
  const words = useWords();
  const shared = useSharedWords();
  const { tabs: names } = useReconciliationWords();
  const { granted } = usePermission('reconciliationRuns');
  const tab = useTab(tabs);
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.reconciliation}</h1>
      </header>
      {granted ? (
        <>
          <Tabs label={shared.parts} tabs={tabs} names={names} />
          {tab === 'differences' ? <DifferencesPart /> : <RunsPart />}
        </>
      ) : (
        <Empty title={words.acts.platform} />
      )}
    </>
  );
};
