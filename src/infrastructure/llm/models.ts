import { CredentialMissing, type ModelConfig, type Models } from '../../application/ports/models.js';
import { Unsealable, type CredentialVault } from '../../application/ports/credential-vault.js';
import { knownEndpoints, type Endpoint, type Endpoints } from './endpoints.js';
import { makeOfflineModel } from './offline-model.js';
import { makeProviderModel } from './provider-model.js';

/** Opens models for the harnesses that run here: `offline` needs nothing, `native` a provider's address and its credential. */
export function makeModels(vault: Pick<CredentialVault, 'has' | 'open'>, configured: Endpoints = {}): Models {
  const endpoints = new Map<string, Endpoint>(Object.entries({ ...knownEndpoints, ...configured }));
  return {
    async unavailableReason({ ownerId, harness, provider }) {
      if (harness === 'offline') return undefined;
      if (harness !== 'native') return 'harness_not_runnable';
      if (!endpoints.has(provider)) return 'provider_not_configured';
      return (await vault.has(ownerId, provider)) ? undefined : 'credential_missing';
    },

    async open(config, role) {
      if (config.harness === 'offline') return makeOfflineModel(role);
      const endpoint = endpoints.get(config.provider);
      const credential = endpoint && (await vault.open(config.ownerId, config.provider).catch(nothingSealed));
      if (!credential) throw new CredentialMissing();
      return makeProviderModel(endpoint, config.provider, ownName(config), credential);
    },
  };
}

/** Models are enrolled as `provider/model`; a provider knows its own by the second part. */
const ownName = ({ provider, model }: ModelConfig): string =>
  model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;

function nothingSealed(fault: unknown): undefined {
  if (!(fault instanceof Unsealable)) throw fault;
  return undefined;
}
