// One scratchpad through the TypeScript SDK: a plan, three workers who write at once, and somebody who follows them.
// Run it against a server:  PALIMPSEST_KEY=$(cat .palimpsest/admin.key) node examples/sdk.mjs
import { Palimpsest, PalimpsestError } from 'palimpsest/sdk';

const url = process.env.PALIMPSEST_URL ?? 'http://127.0.0.1:4700';
const apiKey = process.env.PALIMPSEST_KEY;
if (!apiKey) throw new Error('Set PALIMPSEST_KEY to an API key.');
const client = new Palimpsest({ url, apiKey });

const thread = await client.threads.create({ title: 'Where do whales sleep?' });
const scratchpad = await client.scratchpads.create({ threadId: thread.id });
const { id } = scratchpad;

// Only if nobody has written since: whoever is late is told, and nothing is lost.
const plan = await client.scratchpads.content.set(id, 'Ask three sources.', { ifMatch: scratchpad.contentRevision });
try {
  await client.scratchpads.content.set(id, 'Ask nobody.', { ifMatch: scratchpad.contentRevision });
} catch (error) {
  if (!(error instanceof PalimpsestError) || error.code !== 'conflict') throw error;
  console.log(`The plan is at revision ${error.details.revision}: ${plan.content}`);
}

// Goes on by itself where it was when a connection breaks or a server stops.
async function follow() {
  let heard = 0;
  for await (const { event, data } of client.scratchpads.events(id, { lastEventId: '0' })) {
    if (event !== 'scratchpad.entry_appended') continue;
    console.log(`${data.index}. ${data.kind}: ${data.content}`);
    heard += 1;
    if (heard === 3) return;
  }
}

const work = (source) =>
  client.scratchpads.entries.append(id, { kind: 'verified', content: `${source} was read`, fields: { source } });

await Promise.all([follow(), ...['atlas', 'census', 'diary'].map(work)]);

let count = 0;
for await (const entry of client.scratchpads.entries.list(id, { limit: 2 })) count += entry.kind === 'verified' ? 1 : 0;
console.log(`${count} entries, verified.`);
if (count !== 3) throw new Error(`${count} entries instead of 3`);
await client.threads.delete(thread.id);
