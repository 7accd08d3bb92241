/**
 * Which addresses a webhook may be given, at an endpoint or with a payment, and which addresses may
 * be connected to. Https only for live; never loopback, private, link-local, multicast or metadata
 * addresses. The development switch allows http, and loopback.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Mode } from '../rules/mode.ts';
import { asCame } from '../rules/repeatable.ts';

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
 * The only IPv6 block from which public unicast addresses are given out; outside it also lie forms
 * that carry an IPv4 address, such as `::7f00:1`.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public by its block, and yet the cloud's own inside of a machine that runs there: Azure's wire
 * server.
 */
const cloudOwn = new Set(['168.63.129.16']);

/**
 * Whether an address, in any notation that a socket or a resolver gives, is a public unicast one.
 * Everything else is refused, known or not: private, carrier-grade NAT, link-local with its
 * metadata services, multicast, reserved, and the IPv6 forms that carry an IPv4 address.
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

/** Whether a host, as a name or as an address, may be reached as far as it is seen from itself. */
const mayHost = (host: string, rules: TargetRules): boolean =>
  isIP(host) === 0 ? mayName(host, rules) : mayReachWith(rules)(host);

/** Two slashes and a host behind them: more or fewer of them are read as a URL, too. */
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
 * Checks an address of an endpoint, or of a live payment. Gives what is wrong with it, in words
 * that follow the field's name, or null. Names are not resolved here: what they lead to is checked
 * on every connection.
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
