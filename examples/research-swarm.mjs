// Eight workers share one scratchpad: each claims a source that nobody works on, then appends what it found.
// Run it against a server:  PALIMPSEST_KEY=$(cat .palimpsest/admin.key) node examples/research-swarm.mjs
const url = process.env.PALIMPSEST_URL ?? 'http://127.0.0.1:4700';
const ownerKey = process.env.PALIMPSEST_KEY;
if (!ownerKey) throw new Error('Set PALIMPSEST_KEY to an API key.');

async function call(key, method, path, body) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data, error } = await response.json();
  return error ? { refused: error.code } : data;
}

const sources = ['atlas', 'census', 'diary', 'index', 'ledger', 'map'];

const thread = await call(ownerKey, 'POST', '/v1/threads', { title: 'Where do whales sleep?' });
const pad = await call(ownerKey, 'POST', '/v1/scratchpads', { threadId: thread.id });
const path = `/v1/scratchpads/${pad.id}`;
await call(ownerKey, 'PUT', `${path}/content`, { content: `Read every source once: ${sources.join(', ')}.` });

async function work(name) {
  // A key that is bound to the scratchpad can do nothing else.
  const { key } = await call(ownerKey, 'POST', '/v1/keys', { name, scratchpadId: pad.id, padRole: 'worker' });
  for (const subject of sources) {
    const claim = await call(key, 'POST', `${path}/entries`, {
      kind: 'claim',
      content: `${name} reads ${subject}`,
      fields: { subject },
    });
    if (claim.refused) continue; // Somebody else is at it.
    await call(key, 'POST', `${path}/entries`, {
      kind: 'verified',
      content: `${subject}: read by ${name}`,
      fields: { source: subject },
    });
  }
}

await Promise.all(Array.from({ length: 8 }, (_, n) => work(`worker ${n + 1}`)));
const view = await call(ownerKey, 'GET', `${path}/view`);
console.log(view.text);
if (view.summary.findings !== sources.length)
  throw new Error(`${view.summary.findings} findings instead of ${sources.length}`);
await call(ownerKey, 'DELETE', `/v1/threads/${thread.id}`);
