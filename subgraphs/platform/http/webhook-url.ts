/**
 * Which addresses a webhook may have, at an endpoint or with a payment, and which addresses we may
 * connect to. Https only for live; never loopback, private, link-local, multicast or metadata
 * addresses. The development switch allows http, and loopback.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Mode } from '../../rules/mode.ts';
import { asCame } from '../../rules/refusal.ts';

const webhookUrl_max_chars = 2_048;

export interface TargetRules {
  /** The development switch: http and loopback are allowed, other private addresses are not. */
  readonly privateTargets: boolean;
}

/** The development switch as it stands now. */
export interface TargetSwitch {
  readonly privateTargets: () => boolean;
}

/**
 * The only IPv6 block with public unicast addresses; forms that carry an IPv4 address, such as
 * `::7f00:1`, lie outside it, too.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by its block, but internal on a machine in that cloud: Azure's wire server. */
const cloudOwn = new Set(['168.63.129.16']);

/**
 * Whether an address, in any notation of a socket or a resolver, is a public unicast one. All
 * others are refused, known or not: private, carrier-grade NAT, link-local with its metadata
 * services, multicast, reserved, and the IPv6 forms that carry an IPv4 address.
 */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return (
    address.range() === 'unicast' &&
    !cloudOwn.has(address.toString()) &&
    (address.kind() === 'ipv4' || address.match(globalUnicast))
  );
};

export type MayReach = (address: string) => boolean;

const isPublicOrLoopback: MayReach = (text) =>
  isPublicAddress(text) || (ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback');

export const mayReachWith = ({ privateTargets }: TargetRules): MayReach =>
  privateTargets ? isPublicOrLoopback : isPublicAddress;

export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Names that never lead outside (RFC 6761, RFC 8375, ICANN's private-use name). */
const isPrivateName = (hostname: string): boolean =>
  /(^|\.)(localhost|local|internal|home\.arpa)\.?$/i.test(hostname);

const isLoopbackName = (hostname: string): boolean => /(^|\.)localhost\.?$/i.test(hostname);

/** A name of one label, which no public name is; a developer's hosts file has such. */
const isSingleLabel = (hostname: string): boolean => /^[^.]*\.?$/.test(hostname);

const mayName = (host: string, { privateTargets }: TargetRules): boolean =>
  privateTargets
    ? isLoopbackName(host) || !isPrivateName(host)
    : !isPrivateName(host) && !isSingleLabel(host);

/** Whether a host name or address may be reached, judged by its text alone. */
const mayHost = (host: string, rules: TargetRules): boolean =>
  isIP(host) === 0 ? mayName(host, rules) : mayReachWith(rules)(host);

/** Two slashes and a host after them: the URL parser accepts more or fewer of them, too. */
const absoluteForm = /^https?:\/\/[^/\\]/i;
const noAbsoluteUrl = 'must be an absolute URL such as https://shop.example/hook';

/** What is wrong with the form of an address, wherever it leads. */
const formMistake = (url: string, isHttpAllowed: boolean): string | null => {
  if (url.length > webhookUrl_max_chars)
    return `must have at most ${webhookUrl_max_chars} characters, got ${url.length}`;
  const parsed = URL.parse(url);
  if (!parsed) return noAbsoluteUrl;
  const { protocol, host, username, password } = parsed;
  if (protocol !== 'https:' && !(protocol === 'http:' && isHttpAllowed))
    return `must be an https URL, got ${asCame(`${protocol}//${host}`)}`;
  if (!absoluteForm.test(url)) return noAbsoluteUrl;
  return username === '' && password === '' ? null : 'must not hold a user name or a password';
};

/**
 * Checks an address of an endpoint, or of a live payment. Returns the mistake as a text that
 * follows the field's name, or null. Names are not resolved here: every connection checks its
 * address.
 */
export const checkWebhookUrl = (
  url: string,
  rules: TargetRules & { readonly mode: Mode },
): string | null => {
  const mistake = formMistake(url, rules.mode === 'test' && rules.privateTargets);
  if (mistake !== null) return mistake;
  const { hostname } = new URL(url);
  return mayHost(withoutBrackets(hostname), rules)
    ? null
    : `must resolve to a public address, got ${asCame(hostname)}`;
};

/** The same for a payment's own address. One of a test payment is checked on connecting alone. */
export const checkOwnUrl: typeof checkWebhookUrl = (url, rules) =>
  rules.mode === 'test' ? formMistake(url, true) : checkWebhookUrl(url, rules);
