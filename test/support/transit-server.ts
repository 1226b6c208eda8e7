import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small transit secrets engine at the edge of the world: one key with versions, real AES-256-GCM, a token. */
export interface TransitServer {
  readonly url: string;
  readonly token: string;
  /** Makes a new version the current one. */
  rotate(): void;
  /** Versions below this one decrypt nothing any more. */
  setLeast(version: number): void;
  /** Bodies of every request, as they came. */
  readonly received: readonly string[];
  stop(): Promise<void>;
}

export async function startTransitServer(keyName = 'palimpsest'): Promise<TransitServer> {
  const keys = [randomBytes(32)];
  const token = randomBytes(12).toString('hex');
  const received: string[] = [];
  let least = 1;

  const encrypt = (plain: Buffer, context: Buffer): string => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', keys.at(-1) ?? '', nonce).setAAD(context);
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return `vault:v${keys.length}:${sealed.toString('base64')}`;
  };
  const decrypt = (ciphertext: string, context: Buffer): Buffer => {
    const [, version = '', base64 = ''] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
    const key = keys[Number(version) - 1];
    if (!key || Number(version) < least) throw new Error('no such version');
    const sealed = Buffer.from(base64, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
      .setAAD(context)
      .setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  };
  const answer = ({ method, url, headers }: IncomingMessage, body: Readonly<Record<string, string>>): unknown => {
    if (headers['x-vault-token'] !== token) return undefined;
    const context = Buffer.from(body['associated_data'] ?? '', 'base64');
    if (method === 'GET' && url === `/v1/transit/keys/${keyName}`) {
      return { latest_version: keys.length, min_decryption_version: least };
    }
    if (url === `/v1/transit/encrypt/${keyName}`) {
      return { ciphertext: encrypt(Buffer.from(body['plaintext'] ?? '', 'base64'), context) };
    }
    return { plaintext: decrypt(body['ciphertext'] ?? '', context).toString('base64') };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      received.push(text);
      const reply = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      try {
        const data = answer(request, JSON.parse(text || '{}') as Record<string, string>); // as this client writes it
        if (data === undefined) reply(403, { errors: ['permission denied'] });
        else reply(200, { data });
      } catch {
        reply(400, { errors: ['invalid ciphertext'] });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/v1/transit`,
    token,
    received,
    rotate: () => void keys.push(randomBytes(32)),
    setLeast: (version) => void (least = version),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
