/**
 * The simulated bank declines an operation that it had accepted: it exceeds a limit of the
 * merchant's balance, which only the booking detects.
 */
import type { FailureCode } from '../../rules/failure-code.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';

/** The simulated bank's name. */
export const simulatorConnector = 'simulator';

const decline: Statement = {
  name: 'simulator.decline',
  text: `update simulator_operation set outcome = 'failed', failure_code = $3 where merchant_id = $1 and operation_id = $2`,
};

/** Makes the bank answer from now on that it declined the operation. */
export const declineSimulated = async (
  runner: Runner,
  {
    merchantId,
    operationId,
    failureCode,
  }: {
    readonly merchantId: string;
    readonly operationId: string;
    readonly failureCode: FailureCode;
  },
): Promise<void> => {
  await run(runner, decline, [merchantId, operationId, failureCode]);
};
