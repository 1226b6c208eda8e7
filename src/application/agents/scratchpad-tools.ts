import { isRefusal } from '../../domain/kernel/refusal.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import type { Success } from '../gateway/request.js';
import { jsonSchema } from '../operation/json-schema.js';
import type { Operation } from '../operation/operation.js';
import { operations } from '../registry.js';
import type { Act } from './act-as-agent.js';
import type { Tool } from './conversation.js';
import { inputReference, outputReference } from './scratchpad-reference.js';
import { truncate } from './truncate.js';

/** The registry's tools on a scratchpad that `act` is bound to, as far as the role may use them. */
export const scratchpadTools = (scratchpadId: string, role: PadRole, act: Act): readonly Tool[] =>
  operations
    .filter(({ tool, actsAs }) => tool?.type === 'scratchpad' && (actsAs === undefined || actsAs === role))
    .map((operation) => scratchpadTool(scratchpadId, operation, act));

/** Invariant: the model gets the words of the pad, the stored conversation a reference to them. */
const scratchpadTool = (scratchpadId: string, operation: Operation, act: Act): Tool => ({
  name: operation.name,
  description: operation.summary,
  inputSchema: jsonSchema(operation.input, 'input'),
  storedInput: (input) => JSON.stringify(inputReference(operation, input)),
  async use(input, step) {
    const result = await act(operation, input, step);
    if (isRefusal(result)) return { text: `error: ${result.refused}: ${result.message}` };
    const whole = textOf(result);
    const text = truncate(whole);
    const reference = {
      scratchpadId,
      ...inputReference(operation, input),
      ...outputReference(operation, result.data),
      ...(text !== whole && { cutTo: Buffer.byteLength(text) }), // The model was given no more of it.
    };
    return { text, stored: JSON.stringify(reference) };
  },
});

const textOf = ({ data }: Success): string => (isText(data) ? data.text : JSON.stringify(data));

const isText = (data: unknown): data is { readonly text: string } =>
  typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string';
