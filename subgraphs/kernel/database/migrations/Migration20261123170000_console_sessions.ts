/** Who is logged in to the console, and one-time links. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123170000_console_sessions extends Migration {
  override up(): void {
    this.addSql(`create table console_session (
      digest text not null,
      id uuid not null,
      subject text not null,
      role text not null,
      merchant_id uuid null,
      created_at timestamptz(3) not null,
      seen_at timestamptz(3) not null,
      ends_at timestamptz(3) not null,
      ended_at timestamptz(3) null,
      primary key (digest))`);
    this.addSql('create index console_session_ends on console_session (ends_at)');
    this.addSql(`create table console_link (
      digest text not null,
      expires_at timestamptz(3) not null,
      used_at timestamptz(3) null,
      primary key (digest))`);
  }
}
