/** The outcome of work, or a rejection when it takes longer. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let late: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error('timeout')), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(late);
  }
}
