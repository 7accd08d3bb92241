/** An untrusted certificate, made for a test. */
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
/** ecdsa-with-SHA256 */
const algorithm = sequence(hex('06082a8648ce3d040302'));
const utc = (text: string): Buffer => der(0x17, Buffer.from(text));

/**
 * A key and a certificate for `host` that is signed by itself and valid until 2049, both as PEM.
 */
export const makeSelfSigned = (host: string): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from(host)))));
  const alternative = sequence(der(0x82, Buffer.from(host)));
  const extensions = der(0xa3, sequence(sequence(hex('0603551d11'), der(0x04, alternative))));
  const body = sequence(
    hex('a003020102'),
    hex('020101'),
    algorithm,
    name,
    sequence(utc('200101000000Z'), utc('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const certificate = sequence(
    body,
    algorithm,
    der(0x03, Buffer.from([0]), sign('sha256', body, privateKey)),
  );
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
};
