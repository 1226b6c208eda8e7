import { within } from '../kernel/concurrency/deadline.js';
import type { Model, ModelMessage, ToolCall, ToolOffer, ToolResult } from '../ports/models.js';
import { ConversationFailed } from './outcome.js';
import { truncate } from './truncate.js';

/** What a use of a tool came to. */
export interface ToolAnswer {
  /** In words for the model, mistakes too. */
  readonly text: string;
  /** What the stored conversation has in place of the text. */
  readonly stored?: string;
}

/** A tool that an agent is offered. What it acts on is bound in it: it never takes the id of a resource. */
export interface Tool extends ToolOffer {
  /** May run at the same time as other calls of its turn. */
  readonly concurrent?: true;
  /** What the stored conversation has in place of an input of this tool. */
  storedInput?(input: unknown): string;
  /** `step` names this use within the conversation. */
  use(input: unknown, step: string): Promise<ToolAnswer>;
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
    await session.record('assistant', storedTurn(text, calls, tools), `${turn}`);
    if (calls.length === 0) {
      if (text.trim() === '') throw new ConversationFailed('model_failed');
      return text;
    }
    const answered = await runCalls(session, calls, turn, signal);
    const results = answered.map(({ call: { id, tool }, answer }) => ({ id, tool, text: answer.text }));
    messages.push({ role: 'assistant', text, calls }, { role: 'tool', results });
    bytes += bytesOf(text, calls, results);
    if (bytes > maxConversationBytes) throw new ConversationFailed('conversation_too_long');
    await session.record('tool', storedAnswers(answered), `${turn}`);
  }
  throw new ConversationFailed('turn_limit_reached');
}

/** A turn as the stored conversation has it. */
function storedTurn(text: string, calls: readonly ToolCall[], tools: readonly Tool[]): string {
  const lines = calls.map(({ tool: name, input }) => {
    const tool = tools.find((one) => one.name === name);
    return `[${name}] ${tool?.storedInput ? tool.storedInput(input) : JSON.stringify(input)}`;
  });
  return [text, ...lines].filter((line) => line !== '').join('\n');
}

const storedAnswers = (answered: readonly AnsweredCall[]): string =>
  answered.map(({ call, answer }) => `[${call.tool}] ${answer.stored ?? answer.text}`).join('\n');

function bytesOf(text: string, calls: readonly ToolCall[], results: readonly ToolResult[]): number {
  const inputs = calls.map(({ tool, input }) => `[${tool}] ${JSON.stringify(input)}`);
  const texts = [text, ...inputs, ...results.map((result) => result.text)];
  return texts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
}

interface AnsweredCall {
  readonly call: ToolCall;
  readonly answer: ToolAnswer;
}

/** Runs the calls of one turn in their order, concurrent ones at the same time. All have ended when this ends. */
async function runCalls(
  { tools }: AgentSession,
  calls: readonly ToolCall[],
  turn: number,
  signal: AbortSignal,
): Promise<readonly AnsweredCall[]> {
  const running: Promise<AnsweredCall>[] = [];
  for (const [index, call] of calls.entries()) {
    const tool = tools.find(({ name }) => name === call.tool);
    const answered = runCall(tool, call, { turn, index }, signal);
    running.push(answered);
    answered.catch(() => undefined); // Thrown below, once all calls of the turn have ended.
    if (!tool?.concurrent) await Promise.allSettled([answered]);
  }
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function runCall(
  tool: Tool | undefined,
  call: ToolCall,
  { turn, index }: { readonly turn: number; readonly index: number },
  signal: AbortSignal,
): Promise<AnsweredCall> {
  if (!tool) return { call, answer: { text: 'error: there is no such tool' } };
  if (index >= maxCallsPerTurn)
    return { call, answer: { text: `error: only ${maxCallsPerTurn} calls of one turn are run` } };
  signal.throwIfAborted();
  const { text, stored } = await tool.use(call.input, `${turn}.${index + 1}`);
  return { call, answer: { text: truncate(text), ...(stored !== undefined && { stored }) } };
}
