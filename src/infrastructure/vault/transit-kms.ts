import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { BackendUnavailable } from '../../application/faults/errors.js';
import { KeyUnavailable, type Kms } from './kms.js';

export const transitKmsName = 'transit';

export interface TransitOptions {
  /** Where the transit engine is mounted. */
  readonly url: string;
  /** A key of type aes256-gcm96 there. */
  readonly key: string;
  /** Holds the token; read at each call, so that it can be renewed. */
  readonly tokenFile: string;
  readonly answerWithinMs?: number;
}

const keyAnswer = z.object({
  data: z.object({ latest_version: z.number().int(), min_decryption_version: z.number().int() }),
});
const encryptAnswer = z.object({ data: z.object({ ciphertext: z.string() }) });
const decryptAnswer = z.object({ data: z.object({ plaintext: z.base64() }) });

/** `vault:v3:…`: the number of the KEK stands in front of what it wrapped. */
const ciphertextForm = /^vault:v(\d{1,9}):[A-Za-z0-9+/=]+$/;

/** Wraps under a key that never leaves a transit secrets engine (HashiCorp Vault, OpenBao). */
export function makeTransitKms({ url, key, tokenFile, answerWithinMs = 5_000 }: TransitOptions): Kms {
  const call = async (method: 'GET' | 'POST', action: string, body?: Readonly<Record<string, string>>) => {
    const token = (await readFile(tokenFile, 'utf8').catch(unavailable)).trim();
    const response = await fetch(`${url.replace(/\/$/, '')}/${action}/${key}`, {
      method,
      headers: { 'x-vault-token': token, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(answerWithinMs),
      redirect: 'error',
      ...(body && { body: JSON.stringify(body) }),
    }).catch(unavailable);
    // 400 is about what was sent; everything else says that the engine cannot be used now.
    if (response.status === 400) return undefined;
    if (!response.ok) return unavailable();
    const answer: unknown = await response.json().catch(unavailable);
    return answer; // Checked by each caller's schema.
  };

  const versions = async () => {
    const { data } = checked(keyAnswer, await call('GET', 'keys'));
    return { latest: data.latest_version, least: data.min_decryption_version };
  };

  return {
    name: transitKmsName,
    current: async () => (await versions()).latest,
    async has({ kms, kek }) {
      if (kms !== transitKmsName) return false;
      const { latest, least } = await versions();
      return kek >= least && kek <= latest;
    },
    async wrap(dataKey, context) {
      const body = { plaintext: dataKey.toString('base64'), associated_data: encoded(context) };
      const { ciphertext } = checked(encryptAnswer, await call('POST', 'encrypt', body)).data;
      const number = ciphertextForm.exec(ciphertext)?.[1];
      return number === undefined
        ? unavailable()
        : { kms: transitKmsName, kek: Number(number), bytes: Buffer.from(ciphertext) };
    },
    async unwrap({ kms, kek, bytes }, context) {
      const ciphertext = bytes.toString();
      const isItsOwn = kms === transitKmsName && ciphertextForm.exec(ciphertext)?.[1] === String(kek);
      const answer = isItsOwn && (await call('POST', 'decrypt', { ciphertext, associated_data: encoded(context) }));
      if (!answer) throw new KeyUnavailable(kms, kek);
      return Buffer.from(checked(decryptAnswer, answer).data.plaintext, 'base64');
    },
  };
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');

/** Reports only that a call failed. Why: the answer of a failed call may quote what was sent. */
const unavailable = (): never => {
  throw new BackendUnavailable('kms');
};

function checked<Answer>(schema: z.ZodType<Answer>, answer: unknown): Answer {
  const parsed = schema.safeParse(answer);
  return parsed.success ? parsed.data : unavailable();
}
