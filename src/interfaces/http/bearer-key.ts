/**
 * The API key that a request brings, in `Authorization: Bearer` or in `X-API-Key`. Two different keys in one request are no
 * key: which one was meant is not for a door to say.
 */
export function bearerKeyOf(authorization: string | undefined, apiKey: string | undefined): string | undefined {
  if (authorization === undefined) return apiKey;
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return apiKey === undefined || apiKey === bearer ? bearer : undefined;
}
