/** The protocol of a provider: Anthropic's Messages, or OpenAI's Chat Completions, which most others take. */
export type Dialect = 'anthropic' | 'openai';

/** Where a provider is. Invariant: nothing is sent anywhere else; redirections are not followed. */
export interface Endpoint {
  readonly dialect: Dialect;
  readonly url: string;
}
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** The providers that need no configuration. */
export const knownEndpoints: Endpoints = {
  anthropic: { dialect: 'anthropic', url: 'https://api.anthropic.com/v1' },
  openai: { dialect: 'openai', url: 'https://api.openai.com/v1' },
};

/**
 * Parses `provider=URL,…`: where each provider's API begins, as its own documents give it (most often with `/v1`). The
 * provider `anthropic` and URLs after `anthropic+` use Anthropic's protocol, all others OpenAI's. Undefined when the text has
 * another form.
 * Invariant: https, unless it is on this machine. Why: credentials go there.
 */
export function parseEndpoints(text: string): Endpoints | undefined {
  const endpoints: Record<string, Endpoint> = {};
  for (const part of text.split(',')) {
    const [, provider, marked, url] = /^([a-z0-9][a-z0-9._-]{0,63})=(anthropic\+)?(https?:\/\/\S+)$/.exec(part) ?? [];
    if (provider === undefined || url === undefined || !URL.canParse(url)) return undefined;
    const { protocol, hostname, username, password, search, hash } = new URL(url);
    if (`${username}${password}${search}${hash}` !== '') return undefined;
    if (protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return undefined;
    const dialect = marked !== undefined || provider === 'anthropic' ? 'anthropic' : 'openai';
    endpoints[provider] = { dialect, url: url.replace(/\/+$/, '') };
  }
  return endpoints;
}
