/** The first schema: the files of `initial/`, in their order, each as it can be given to psql. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

const folder = join(import.meta.dirname, 'initial');

export class Migration20261121000000_initial extends Migration {
  override up(): void {
    for (const file of globSync('*.sql', { cwd: folder }).toSorted())
      this.addSql(readFileSync(join(folder, file), 'utf8'));
  }
}
