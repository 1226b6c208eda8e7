// A supervisor and three workers research a question, with one scratchpad between them. They need no model: their harness
// is `offline`. Run it against a server:  PALIMPSEST_KEY=$(cat .palimpsest/admin.key) node examples/deep-research.mjs
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const url = process.env.PALIMPSEST_URL ?? 'http://127.0.0.1:4700';
const key = process.env.PALIMPSEST_KEY;
if (!key) throw new Error('Set PALIMPSEST_KEY to an API key.');

async function call(method, path, body) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data, error } = await response.json();
  if (error) throw new Error(`${method} ${path}: ${error.code} ${error.message}`);
  return data;
}

async function enroll(name) {
  // The harness `native` would think at the provider, with this credential; `offline` never looks at it.
  const { agent } = await call('POST', '/v1/agents/enroll', {
    harness: 'offline',
    name,
    model: 'none',
    provider: 'example',
    idempotencyKey: randomUUID(),
    credential: { mode: 'intake', type: 'api_key', value: 'of-no-use' },
  });
  return agent.id;
}

const thread = await call('POST', '/v1/threads', { title: 'Whales' });
const started = await call('POST', '/v1/research', {
  threadId: thread.id,
  question: 'Where do whales sleep?',
  supervisorAgentId: await enroll('Supervisor'),
  workerAgentIds: [await enroll('One'), await enroll('Two'), await enroll('Three')],
  deadlineSeconds: 60,
});

let run = started;
while (run.finishedAt === null) {
  await pause(100);
  run = await call('GET', `/v1/research/${started.id}`);
}
console.log(run.status, run.answer ?? run.reason);
for (const { agentId, status, failure } of run.calls) console.log(`  ${agentId}: ${failure ?? status}`);
console.log((await call('GET', `/v1/scratchpads/${run.scratchpadId}/view`)).text);

const { ok, entries } = await call('GET', `/v1/scratchpads/${run.scratchpadId}/verify`);
if (run.status !== 'completed' || !ok) throw new Error('The research did not come to its end.');
console.log(`verified: ${entries} entries`);
await call('DELETE', `/v1/threads/${thread.id}`);
