/** How a provider is spoken to: Anthropic's Messages, or what most others take: OpenAI's Chat Completions. */
export type Dialect = 'anthropic' | 'openai';

/** Where a provider is. Nothing is sent anywhere else, and redirections are not followed. */
export interface Endpoint {
  readonly dialect: Dialect;
  readonly url: string;
}
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** The providers that are known without any configuration. */
export const knownEndpoints: Endpoints = {
  anthropic: { dialect: 'anthropic', url: 'https://api.anthropic.com/v1' },
  openai: { dialect: 'openai', url: 'https://api.openai.com/v1' },
};

/**
 * `provider=URL,…`: where each provider's API begins, as its own documents give it (most often with `/v1`). The provider
 * `anthropic` and URLs after `anthropic+` are spoken to as Anthropic is, all others as OpenAI is. Credentials go there, so
 * it is https unless it is on this machine. Undefined when the text says something else.
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
