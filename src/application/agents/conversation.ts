import type { Model, ModelMessage, ModelTurn, ToolCall, ToolOffer, ToolResult } from '../ports/models.js';
import { truncate } from './truncate.js';
import { ConversationFailed, within } from './outcome.js';

/** A tool that a run offers to an agent. It never takes an id of a resource: what it acts on is bound in it. */
export interface Tool extends ToolOffer {
  /** May others of the same turn run beside it? */
  readonly beside?: true;
  /** Answers in words for the model, mistakes too. `step` names this use within the conversation. */
  use(input: unknown, step: string): Promise<string>;
}

/** An agent in its own thread, which no other agent reads. */
export interface AgentSession {
  readonly model: Model;
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly maxTurns: number;
  /** Stores a message of the conversation in the seat's thread. Throws GaveUp when it cannot be kept. */
  remember(role: 'user' | 'assistant' | 'tool', text: string, step: string): Promise<void>;
  /** Throws RunEnded when the run has been taken away or ended. */
  assertClaimed(): Promise<void>;
}

/** What is held in memory of one conversation, in UTF-8 bytes; no provider takes as much. */
const longestBytes = 8 * 1024 * 1024;
/** More than this of one turn are answered unused. */
const mostCallsOfATurn = 32;

/**
 * Asks the model until it uses no more tools; what it said then is the answer. Bounded by the seat's turns and by the signal.
 * Throws GaveUp, ModelFailed, RunEnded.
 */
export async function converse(seat: AgentSession, opening: string, signal: AbortSignal): Promise<string> {
  const messages: ModelMessage[] = [{ role: 'user', text: opening }];
  let bytes = 0;
  for (let turn = 1; turn <= seat.maxTurns; turn += 1) {
    await seat.assertClaimed();
    const { system, tools } = seat;
    const said = await within(signal, seat.model.complete({ system, messages, tools }, signal));
    await seat.remember('assistant', wordsOf(said), `${turn}`);
    if (said.calls.length === 0) {
      if (said.text.trim() === '') throw new ConversationFailed('model_failed');
      return said.text;
    }
    messages.push({ role: 'assistant', ...said });
    const results = await useAll(seat, said.calls, turn, signal);
    messages.push({ role: 'tool', results });
    bytes += Buffer.byteLength(wordsOf(said)) + results.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > longestBytes) throw new ConversationFailed('conversation_too_long');
    await seat.remember('tool', results.map(({ tool, text }) => `[${tool}] ${text}`).join('\n'), `${turn}`);
  }
  throw new ConversationFailed('turn_limit_reached');
}

const wordsOf = ({ text, calls }: ModelTurn): string =>
  [text, ...calls.map(({ tool, input }) => `[${tool}] ${JSON.stringify(input)}`)]
    .filter((line) => line !== '')
    .join('\n');

/** In the order in which they were called, but for those that may run beside others. All have ended when this ends. */
async function useAll(
  { tools }: AgentSession,
  calls: readonly ToolCall[],
  turn: number,
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  const use = async (call: ToolCall, place: number): Promise<string> => {
    const tool = tools.find(({ name }) => name === call.tool);
    if (!tool) return 'error: there is no such tool';
    if (place >= mostCallsOfATurn) return `error: only ${mostCallsOfATurn} calls of one turn are run`;
    signal.throwIfAborted();
    return tool.use(call.input, `${turn}.${place + 1}`);
  };
  const texts: Promise<string>[] = [];
  for (const [place, call] of calls.entries()) {
    const text = use(call, place);
    texts.push(text);
    text.catch(() => undefined); // It is told below, with all others of the turn.
    const isBeside = tools.some(({ name, beside }) => name === call.tool && beside);
    if (!isBeside) await Promise.allSettled([text]);
  }
  await Promise.allSettled(texts);
  const told = await Promise.all(texts);
  return calls.map(({ id, tool }, place) => ({ id, tool, text: truncate(told[place] ?? '') }));
}
