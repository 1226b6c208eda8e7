/** Ends the stack of the run. Were jest killed before, its keeper ends it. */
export default async function tearDown(): Promise<void> {
  await globalThis.palimpsestTestStack?.stop();
}
