import type { LanguageModel, ModelMessage as SdkMessage, ToolSet } from 'ai';
import { ModelFailed, type Conversation, type Model, type ModelMessage } from '../../application/ports/models.js';
import type { Secret } from '../../application/kernel/secret.js';
import type { Endpoint } from './endpoints.js';

/** Retries of the SDK, with back-off, where the provider says that they may help. */
const retries = 2;

/** A provider's model over HTTP. Invariant: the credential is revealed only to the call that it authenticates. */
export const makeProviderModel = (endpoint: Endpoint, provider: string, model: string, credential: Secret): Model => ({
  async complete(conversation, signal) {
    try {
      const { generateText, tool, jsonSchema } = await import('ai');
      // The SDK would write warnings about models that it does not know to standard output.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      const tools: ToolSet = Object.fromEntries(
        conversation.tools.map(({ name, description, inputSchema }) => [
          name,
          tool({ description, inputSchema: jsonSchema(inputSchema) }),
        ]),
      );
      const { text, toolCalls } = await generateText({
        model: await open(endpoint, provider, model, credential),
        system: conversation.system,
        messages: messagesOf(conversation),
        tools,
        maxRetries: retries,
        abortSignal: signal,
      });
      return {
        text,
        calls: toolCalls.map(({ toolCallId, toolName, input }) => ({
          id: toolCallId,
          tool: toolName,
          input: input, // whatever the model wrote
        })),
      };
    } catch (fault) {
      signal.throwIfAborted();
      // Errors of the SDK carry the request with its headers, and so the credential: only the status goes further.
      throw new ModelFailed(statusOf(fault));
    }
  },
});

async function open(
  { dialect, url: baseURL }: Endpoint,
  name: string,
  model: string,
  credential: Secret,
): Promise<LanguageModel> {
  const settings = { baseURL, apiKey: credential.reveal(), fetch: fetchThere };
  if (dialect === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(settings)(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ ...settings, name })(model);
}

/** Follows no redirection. Why: it would take the credential to another server. */
const fetchThere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' });

const messagesOf = ({ messages }: Conversation): SdkMessage[] => messages.map(messageOf);

function messageOf(message: ModelMessage): SdkMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.calls.map(({ id: toolCallId, tool: toolName, input }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            // Providers take objects only; anything else that the model wrote was answered as a mistake.
            input: typeof input === 'object' && input !== null ? input : {},
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: message.results.map(({ id: toolCallId, tool: toolName, text: value }) => ({
          type: 'tool-result' as const,
          toolCallId,
          toolName,
          output: { type: 'text' as const, value },
        })),
      };
  }
}

function statusOf(fault: unknown): number | undefined {
  const last = fault instanceof Error && 'lastError' in fault ? fault.lastError : fault;
  return last instanceof Error && 'statusCode' in last && typeof last.statusCode === 'number'
    ? last.statusCode
    : undefined;
}
