/** The simulated bank's orders of holds by age, for their removal. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124062001_simulator_hold_order_age extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      'create index concurrently if not exists simulator_hold_order_age on simulator_hold_order (created_at)',
    );
  }
}
