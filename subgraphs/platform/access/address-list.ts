/**
 * Lists of network addresses: a shop's allow-list (docs/contract.md#caller-address) and the trusted
 * proxies. An entry is an IPv4 or IPv6 address or a CIDR block. An IPv4 address written as IPv6
 * (`::ffff:192.0.2.1`) equals that IPv4 address, in entries and in callers.
 */
import { BlockList, isIP, SocketAddress } from 'node:net';

/** The address in a socket or a header, normalized so that equal addresses are equal texts. */
export interface Address {
  readonly family: 'ipv4' | 'ipv6';
  readonly text: string;
}

/** As many bits of an IPv4 address in IPv6 notation stand before the IPv4 address itself. */
const mappedBits = 96;

/**
 * Reads an address in any notation; null when it is none. A zone, as in `fe80::1%eth0`, is left
 * out.
 */
export const readAddress = (text: string): Address | null => {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return { family: 'ipv4', text };
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  return mapped === undefined
    ? { family: 'ipv6', text: address }
    : { family: 'ipv4', text: mapped };
};

interface Block extends Address {
  readonly bits: number;
}

const readBlock = (entry: string): Block | null => {
  const [, written = '', prefix] = /^([\d.:a-f]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
  const address = readAddress(written);
  if (!address) return null;
  const limit = isIP(written) === 4 ? 32 : 128;
  const bits = prefix === undefined ? limit : Number(prefix);
  if (bits > limit || (prefix !== undefined && String(bits) !== prefix)) return null;
  if (address.family === 'ipv6' || limit === 32) return { ...address, bits };
  // A block that reaches beyond the IPv4 addresses in IPv6 notation is none of either kind.
  return bits < mappedBits ? null : { ...address, bits: bits - mappedBits };
};

/**
 * The entry in one notation; null when it is neither an address nor a CIDR block. An address stands
 * without a prefix.
 */
export const readAddressEntry = (entry: string): string | null => {
  const block = readBlock(entry.trim());
  if (!block) return null;
  return block.bits === (block.family === 'ipv4' ? 32 : 128)
    ? block.text
    : `${block.text}/${block.bits}`;
};

/** Whether an address, in any notation, is in the list. What is no address is in no list. */
export type AddressList = (address: string) => boolean;

/** Opens a list of entries that have been read before; throws on another. */
export const openAddressList = (entries: readonly string[]): AddressList => {
  // One for each family: Node would find an IPv4 address in a block of IPv6 addresses that is wide
  // enough.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const block = readBlock(entry);
    if (!block) throw new Error(`not an address: ${entry}`);
    lists[block.family].addSubnet(block.text, block.bits, block.family);
  }
  return (text) => {
    const address = readAddress(text);
    return address !== null && lists[address.family].check(address.text, address.family);
  };
};
