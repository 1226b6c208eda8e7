import type { Harness } from '../ports/harnesses.js';

/** The harnesses that the product itself knows. Teams add their own by configuration. */
export const builtInHarnesses: readonly Harness[] = [
  { name: 'native', description: 'The built-in tool loop over a model provider.', providers: 'any' },
  { name: 'offline', description: 'Deterministic, without a model: for tests and rehearsals.', providers: 'any' },
  { name: 'claude-code', description: 'Claude Code.', providers: ['anthropic', 'bedrock', 'vertex'] },
  { name: 'codex', description: 'Codex CLI.', providers: ['openai', 'azure'] },
  {
    name: 'opencode',
    description: 'opencode.',
    providers: ['anthropic', 'openai', 'google', 'openrouter', 'mistral', 'groq', 'xai', 'bedrock', 'azure', 'ollama'],
  },
];

export const takesProvider = ({ providers }: Harness, provider: string): boolean =>
  providers === 'any' || providers.includes(provider);
