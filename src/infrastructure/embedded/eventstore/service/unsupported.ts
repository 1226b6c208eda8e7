const INSTEAD: Readonly<Record<string, string>> = {
  'event_store.client.persistent_subscriptions.PersistentSubscriptions':
    'The embedded event store has no persistent subscriptions; use a catch-up subscription and store its position.',
  'event_store.client.projections.Projections':
    'The embedded event store has no server-side projections; fold a subscription in your own process.',
  'event_store.client.users.Users':
    'The embedded event store has no user management; give it credentials when it starts.',
  'event_store.client.operations.Operations':
    'The embedded event store has no remote operations; it scavenges on schedule, and when its process gets SIGUSR2.',
  'event_store.client.monitoring.Monitoring': 'The embedded event store has no statistics stream; read its log.',
};

/** One sentence on what to use instead of something that is not served. */
export function insteadOf(path: string): string {
  const service = path.split('/')[1] ?? '';
  if (service.startsWith('event_store.cluster.'))
    return 'The embedded event store is a single node; there is no cluster to join.';
  return INSTEAD[service] ?? 'The embedded event store does not serve this method.';
}

/**
 * Streams that server-side projections would fill: `$ce-` by category, `$et-` by type, `$streams`, and the like. Where
 * nobody has written to such a stream, it will not come into being by itself, and whoever reads it should know.
 */
export const isProjected = (stream: string): boolean =>
  /^\$(?:ce|et|bc|category|(?:stream_)?by_[a-z_]+|streams)(?:-|$)/.test(stream);

export const PROJECTED =
  'The embedded event store has no system projections; subscribe to all events with a filter by stream name or type.';
