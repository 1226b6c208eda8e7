import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  remove(): void;
}

/** A certificate for 127.0.0.1 and localhost that vouches for itself, in files, valid from yesterday to tomorrow. */
export function selfSigned(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = bodyOf(publicKey.export({ type: 'spki', format: 'der' }));
  const signature = sign('sha256', body, privateKey);
  const certificate = der(0x30, body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-tls-'));
  const [certFile, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  writeFileSync(certFile, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { certFile, keyFile, remove: () => rmSync(folder, { recursive: true }) };
}

/** Tag, length, contents: all there is to DER. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = der(0x30, oid('2a8648ce3d040302'));
const COMMON_NAME = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from('event store under test')))));
const ALTERNATIVE_NAMES = der(0x30, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
const IS_AUTHORITY = der(0x30, der(0x01, Buffer.from([0xff])));

function bodyOf(publicKey: Buffer): Buffer {
  const day = 24 * 60 * 60 * 1000;
  const time = (at: number): Buffer =>
    der(0x18, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
  const extensions = der(
    0x30,
    der(0x30, oid('551d11'), der(0x04, ALTERNATIVE_NAMES)),
    der(0x30, oid('551d13'), der(0x04, IS_AUTHORITY)),
  );
  return der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    COMMON_NAME,
    der(0x30, time(Date.now() - day), time(Date.now() + day)),
    COMMON_NAME,
    publicKey,
    der(0xa3, extensions),
  );
}
