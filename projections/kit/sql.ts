/** A statement as a value: text with $1…$n and the values beside it. Values never become text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Present when the statement can do its work for many rows at once: see `perRow`. */
  readonly many?: Many;
}

/** A statement that takes any number of rows as one JSON array, and a row for it. */
export interface Many {
  readonly statement: (rows: string) => Sql;
  readonly row: Readonly<Record<string, unknown>>;
}

class Statement implements Sql {
  constructor(
    readonly text: string,
    readonly values: readonly unknown[],
  ) {}
}

/** Builds a statement from a template: sql`select * from threads where id = ${id}`. A statement inside one is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  const plain = !values.some((value) => value instanceof Statement);
  const known = plain ? texts.get(strings) : undefined;
  if (known !== undefined) return new Statement(known, values);
  const parameters: unknown[] = [];
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text +=
      (value instanceof Statement ? spliced(value, parameters) : placeholder(value, parameters)) +
      (strings[index + 1] ?? '');
  });
  if (plain) texts.set(strings, text);
  return new Statement(text, parameters);
}

/** Texts by template, of templates without inner statements. Why: the driver prepares a text once. */
const texts = new WeakMap<TemplateStringsArray, string>();

const placeholder = (value: unknown, parameters: unknown[]): string => `$${parameters.push(value)}`;

function spliced({ text, values }: Sql, parameters: unknown[]): string {
  const before = parameters.length;
  parameters.push(...values);
  return text.replace(/\$(\d+)/g, (_, number: string) => `$${before + Number(number)}`);
}

/**
 * One row's worth of a statement that can do many: `statement` reads its rows from one JSON array
 * (`json_to_recordset`). The runner runs neighbours with the same `statement` as one, so that a batch of a thousand
 * events of a kind costs one statement.
 */
export const perRow = (statement: Many['statement'], row: Many['row']): Sql => ({
  many: { statement, row },
  // Most often a neighbour takes the row over, and this is never asked for.
  get text() {
    return forRows(statement, [row]).text;
  },
  get values() {
    return forRows(statement, [row]).values;
  },
});

/** Makes the one statement that writes these rows together. */
export const forRows = (statement: Many['statement'], rows: readonly Many['row'][]): Sql => {
  const { text, values } = statement(JSON.stringify(rows));
  return { text, values };
};
