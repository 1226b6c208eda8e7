const plainName = /^(--)?[a-z]+([.-][a-z]+)*$/i;

/** What the parser complains of, without anything that was given: people put secrets where none belongs. */
export const withoutValues = (complaint: string): string =>
  complaint
    .replace(/(?<=unknown (?:option|command) ').*(?=')/s, nameIn)
    .replace(/ (?:argument|value) '.*' is invalid/s, ' value is invalid');

/** `--api-key` of `--api-key=sk-1`, `-k` of `-ksk-1`; what does not look like a name is not repeated. */
function nameIn(word: string): string {
  const [name = ''] = word.split('=', 1);
  if (/^-[^-]/.test(name)) return name.slice(0, 2);
  return name.length <= 40 && plainName.test(name) ? name : '…';
}
