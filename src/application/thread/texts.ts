import { z } from 'zod';
import { metadataValues } from '../../domain/kernel/metadata-values.js';
import { thread, type OpenThread } from '../../domain/thread/thread.js';
import type { EventReader } from '../event-sourcing/event-reader.js';

const texts = z.object({ title: z.string().nullable().optional(), metadata: metadataValues.optional() });

/** Reads title and metadata of a thread from its stream. Why: the state knows only where they are, and the read model may be behind. */
export async function textsOf({ id, titleIn, metadataIn }: OpenThread, events: EventReader) {
  const textsIn = async (revision: number) =>
    texts.parse((await events.at(`${thread.category}-${id}`, revision))?.data);
  const titled = await textsIn(titleIn);
  const described = titleIn === metadataIn ? titled : await textsIn(metadataIn);
  return { title: titled.title ?? null, metadata: described.metadata ?? {} };
}
