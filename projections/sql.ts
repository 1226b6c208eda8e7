/** A statement as a value: text with $1…$n and the values beside it. Values never become text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

class Statement implements Sql {
  constructor(
    readonly text: string,
    readonly values: readonly unknown[],
  ) {}
}

/** Builds a statement from a template: sql`select * from threads where id = ${id}`. A statement inside one is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  const known = texts.get(strings);
  if (known !== undefined) return new Statement(known, values);
  const parameters: unknown[] = [];
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text +=
      (value instanceof Statement ? spliced(value, parameters) : placeholder(value, parameters)) +
      (strings[index + 1] ?? '');
  });
  if (!values.some((value) => value instanceof Statement)) texts.set(strings, text);
  return new Statement(text, parameters);
}

/** The same template has the same text, so the driver can prepare it once. Only templates without inner statements are kept. */
const texts = new WeakMap<TemplateStringsArray, string>();

const placeholder = (value: unknown, parameters: unknown[]): string => `$${parameters.push(value)}`;

function spliced({ text, values }: Sql, parameters: unknown[]): string {
  const before = parameters.length;
  parameters.push(...values);
  return text.replace(/\$(\d+)/g, (_, number: string) => `$${before + Number(number)}`);
}
