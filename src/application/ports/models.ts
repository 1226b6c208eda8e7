import type { PadRole } from '../../domain/kernel/roles.js';

/** A language model, or what stands in for one, without any provider's own formats. */
export interface Model {
  /**
   * Answers the next turn.
   * Fails when: the provider gives no answer → ModelFailed; the signal is aborted → its reason.
   */
  complete(conversation: Conversation, signal: AbortSignal): Promise<ModelTurn>;
}

export interface Conversation {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolOffer[];
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | ({ readonly role: 'assistant' } & ModelTurn)
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface ModelTurn {
  readonly text: string;
  /** Tools that it wants used. None: the model is done. */
  readonly calls: readonly ToolCall[];
}

export interface ToolCall {
  /** The provider's own name for this call; its result goes back under the same. */
  readonly id: string;
  readonly tool: string;
  /** As the model wrote it, unchecked. */
  readonly input: unknown;
}

export interface ToolResult {
  readonly id: string;
  readonly tool: string;
  readonly text: string;
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Decides how an agent thinks; as it was enrolled. */
export interface ModelConfig {
  readonly ownerId: string;
  readonly harness: string;
  readonly provider: string;
  /** `provider/model` or the provider's own name. */
  readonly model: string;
}

/** The part of an agent in its work. */
export interface AgentRole {
  readonly role: PadRole;
  /** How many workers a supervisor has. */
  readonly workers: number;
}

export type CannotRun = 'harness_not_runnable' | 'provider_not_configured' | 'credential_missing';

/** The models that this installation can run agents on. */
export interface Models {
  /** Why an agent cannot be run here now; undefined when it can. */
  unavailableReason(config: ModelConfig): Promise<CannotRun | undefined>;
  /** Fails when: the owner keeps no credential for the provider → CredentialMissing. */
  open(config: ModelConfig, role: AgentRole): Promise<Model>;
}

/** The provider refused, failed, or answered in a form that cannot be read. `status`: its HTTP status, if it sent one. */
export class ModelFailed extends Error {
  constructor(readonly status?: number) {
    super('The model did not answer.');
  }
}

/** The owner keeps no credential for the agent's provider, or it does not open. */
export class CredentialMissing extends Error {
  constructor() {
    super('There is no credential to ask the model with.');
  }
}
