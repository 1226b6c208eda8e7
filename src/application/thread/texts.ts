import { z } from 'zod';
import { metadataValues } from '../../domain/kernel/metadata-values.js';
import { thread, type OpenThread } from '../../domain/thread/thread.js';
import type { Streams } from '../event-sourcing/aggregates.js';

const said = z.object({ title: z.string().nullable().optional(), metadata: metadataValues.optional() });

/** Title and metadata of a thread as its stream says them: its state knows where, and the read model may be behind. */
export async function textsOf({ id, titleIn, metadataIn }: OpenThread, streams: Streams) {
  const textsIn = async (revision: number) =>
    said.parse((await streams.eventAt(`${thread.category}-${id}`, revision))?.data);
  const titled = await textsIn(titleIn);
  const described = titleIn === metadataIn ? titled : await textsIn(metadataIn);
  return { title: titled.title ?? null, metadata: described.metadata ?? {} };
}
