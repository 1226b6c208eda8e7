/** A statement as a value: text with $1…$n and the values beside it. Values never become text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Builds a statement from a template: sql`select * from threads where id = ${id}`. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Sql => ({
  text: textOf(strings),
  values,
});

const texts = new WeakMap<TemplateStringsArray, string>();

/** The same template has the same text, so the driver can prepare it once. */
function textOf(strings: TemplateStringsArray): string {
  const known = texts.get(strings);
  if (known !== undefined) return known;
  const text = strings.reduce((built, part, index) => (index === 0 ? part : `${built}$${index}${part}`), '');
  texts.set(strings, text);
  return text;
}
