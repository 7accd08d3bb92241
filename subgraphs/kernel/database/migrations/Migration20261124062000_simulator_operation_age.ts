/** Operations of the simulated bank by age, for their removal. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124062000_simulator_operation_age extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists simulator_operation_age on simulator_operation (created_at)',
    );
  }
}
