/**
 * Reads variables of the environment, each also from a file that `<NAME>_FILE` names, and gathers
 * every mistake.
 */
import { readFileSync } from 'node:fs';
import { readAddressEntry } from '../access/address-list.ts';

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one environment. A value that cannot be used is a mistake, and its fallback is given. */
export class Reader {
  readonly mistakes: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | null {
    const file = this.#environment[`${name}_FILE`];
    const value = this.#environment[name];
    if (file && value) this.mistakes.push(`${name} and ${name}_FILE are both set; set one`);
    if (!file) return value || null;
    try {
      // A secret that is not used may be an empty file.
      return readFileSync(file, 'utf8').trim() || null;
    } catch {
      this.mistakes.push(`${name}_FILE names a file that cannot be read`);
      return null;
    }
  }

  integer(name: string, fallback: number, least: number, limit: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= limit) return number;
    this.mistakes.push(`${name} must be an integer from ${least} to ${limit}, got "${value}"`);
    return fallback;
  }

  url(name: string, protocols: readonly string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    // The value may hold a password: it is not repeated.
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol))
      return value.replace(/\/$/, '');
    this.mistakes.push(
      `${name} must be an address with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );
    return null;
  }

  /** One address, or several with commas between them. */
  urls(name: string, protocols: readonly string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const addresses = value.split(',').map((address) => address.trim().replace(/\/$/, ''));
    if (
      addresses.every(
        (address) => URL.canParse(address) && protocols.includes(new URL(address).protocol),
      )
    )
      return addresses.join(',');
    this.mistakes.push(
      `${name} must be an address with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}, or several with commas between them`,
    );
    return null;
  }

  /**
   * Puts the password that `name` has into addresses without one: it may then be a secret's file,
   * and the address a plain setting.
   */
  withPassword(addresses: string | null, name: string): string | null {
    const password = this.text(name);
    if (addresses === null || password === null) return addresses;
    return addresses
      .split(',')
      .map((address) => {
        const url = new URL(address);
        if (url.password === '') url.password = encodeURIComponent(password);
        return url.href.replace(/\/$/, '');
      })
      .join(',');
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = this.text(name);
    if (value === null) return fallback;
    const found = values.find((candidate) => candidate === value);
    if (found) return found;
    this.mistakes.push(`${name} must be one of ${values.join(', ')}, got "${value}"`);
    return fallback;
  }

  addresses(name: string): readonly string[] {
    const entries = (this.text(name) ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
    return entries.flatMap((entry) => {
      const read = readAddressEntry(entry);
      if (read === null)
        this.mistakes.push(
          `${name} must hold IPv4 or IPv6 addresses or CIDR blocks, got "${entry}"`,
        );
      return read ?? [];
    });
  }

  key(name: string): Buffer | null {
    const value = this.text(name);
    if (value === null) return null;
    const bytes = Buffer.from(value, 'base64');
    if (bytes.length === 32) return bytes;
    this.mistakes.push(
      `${name} must be 32 bytes in base64 (openssl rand -base64 32), got ${bytes.length} bytes`,
    );
    return null;
  }
}
