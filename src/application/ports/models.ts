import type { PadRole } from '../../domain/kernel/roles.js';

/** A language model, or what stands in for one. Nothing of a provider's own forms is seen here. */
export interface Model {
  /**
   * One turn: what the model says next, and the tools it wants used. Throws ModelFailed when there is no answer to be had;
   * ends with the signal's reason when that is aborted.
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
  /** None: the model is done. */
  readonly calls: readonly ToolCall[];
}

export interface ToolCall {
  /** The provider's own name for this call: a result is given back under it. */
  readonly id: string;
  readonly tool: string;
  /** As the model wrote it: not to be trusted. */
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

/** What decides how an agent thinks, as it was enrolled. */
export interface ModelConfig {
  readonly ownerId: string;
  readonly harness: string;
  readonly provider: string;
  /** `provider/model` or the provider's own name. */
  readonly model: string;
}

/** Where an agent sits in a run. */
export interface AgentRole {
  readonly role: PadRole;
  /** How many workers a supervisor has. */
  readonly workers: number;
}

export type CannotRun = 'harness_not_runnable' | 'provider_not_configured' | 'credential_missing';

/** The models that this installation can run agents on. */
export interface Models {
  /** Why an agent cannot be run here now; undefined when it can. */
  unavailableReason(mind: ModelConfig): Promise<CannotRun | undefined>;
  /** Throws CredentialMissing. */
  open(mind: ModelConfig, place: AgentRole): Promise<Model>;
}

/** The provider refused, failed, or said what cannot be understood. `status` is its HTTP status, where there was one. */
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
