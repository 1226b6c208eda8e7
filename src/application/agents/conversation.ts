import type { Model, ModelMessage, ModelTurn, ToolCall, ToolOffer, ToolResult } from '../ports/models.js';
import { ConversationFailed, within } from './outcome.js';
import { truncate } from './truncate.js';

/** A tool that an agent is offered. What it acts on is bound in it: it never takes the id of a resource. */
export interface Tool extends ToolOffer {
  /** May run at the same time as other calls of its turn. */
  readonly concurrent?: true;
  /** Answers in words for the model, mistakes too. `step` names this use within the conversation. */
  use(input: unknown, step: string): Promise<string>;
}

/** An agent at work: its model, its tools, its own thread, which no other agent reads. */
export interface AgentSession {
  readonly model: Model;
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly maxTurns: number;
  /** Stores a message in the session's thread. Fails when: the thread is gone → ConversationFailed. */
  record(role: 'user' | 'assistant' | 'tool', text: string, step: string): Promise<void>;
  /** Fails when: the work ended, or another process has it → it throws what the work ends with. */
  assertClaimed(): Promise<void>;
}

/** UTF-8 bytes of one conversation in memory. No provider takes as much. */
const maxConversationBytes = 8 * 1024 * 1024;
/** Calls of one turn beyond these are answered without being run. */
const maxCallsPerTurn = 32;

/**
 * Asks the model until it uses no more tools; the text of that turn is the answer.
 * Fails when: the turns or the bytes are used up, or the answer is empty → ConversationFailed; the model fails → ModelFailed;
 * the signal is aborted → its reason.
 */
export async function converse(session: AgentSession, opening: string, signal: AbortSignal): Promise<string> {
  const messages: ModelMessage[] = [{ role: 'user', text: opening }];
  let bytes = 0;
  for (let turn = 1; turn <= session.maxTurns; turn += 1) {
    await session.assertClaimed();
    const { system, tools } = session;
    const { text, calls } = await within(signal, session.model.complete({ system, messages, tools }, signal));
    await session.record('assistant', textOfTurn({ text, calls }), `${turn}`);
    if (calls.length === 0) {
      if (text.trim() === '') throw new ConversationFailed('model_failed');
      return text;
    }
    messages.push({ role: 'assistant', text, calls });
    const results = await runCalls(session, calls, turn, signal);
    messages.push({ role: 'tool', results });
    bytes += Buffer.byteLength(textOfTurn({ text, calls }));
    for (const result of results) bytes += Buffer.byteLength(result.text);
    if (bytes > maxConversationBytes) throw new ConversationFailed('conversation_too_long');
    await session.record('tool', results.map(({ tool, text: answer }) => `[${tool}] ${answer}`).join('\n'), `${turn}`);
  }
  throw new ConversationFailed('turn_limit_reached');
}

const textOfTurn = ({ text, calls }: ModelTurn): string =>
  [text, ...calls.map(({ tool, input }) => `[${tool}] ${JSON.stringify(input)}`)]
    .filter((line) => line !== '')
    .join('\n');

/** Runs the calls of one turn in their order, concurrent ones at the same time. All have ended when this ends. */
async function runCalls(
  { tools }: AgentSession,
  calls: readonly ToolCall[],
  turn: number,
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  const answers: Promise<ToolResult>[] = [];
  for (const [index, call] of calls.entries()) {
    const tool = tools.find(({ name }) => name === call.tool);
    const answer = runCall(tool, call, { turn, index }, signal);
    answers.push(answer);
    answer.catch(() => undefined); // Thrown below, once all calls of the turn have ended.
    if (!tool?.concurrent) await Promise.allSettled([answer]);
  }
  await Promise.allSettled(answers);
  return Promise.all(answers);
}

async function runCall(
  tool: Tool | undefined,
  { id, tool: name, input }: ToolCall,
  { turn, index }: { readonly turn: number; readonly index: number },
  signal: AbortSignal,
): Promise<ToolResult> {
  const answer = async (): Promise<string> => {
    if (!tool) return 'error: there is no such tool';
    if (index >= maxCallsPerTurn) return `error: only ${maxCallsPerTurn} calls of one turn are run`;
    signal.throwIfAborted();
    return tool.use(input, `${turn}.${index + 1}`);
  };
  return { id, tool: name, text: truncate(await answer()) };
}
