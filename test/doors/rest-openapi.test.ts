import { operations } from '../../src/application/registry.js';
import type { Operation } from '../../src/application/operation/operation.js';
import { publicInput } from '../../src/application/operation/public-input.js';
import { openApi } from '../../src/interfaces/rest/openapi/document.js';
import { statuses } from '../../src/interfaces/statuses.js';

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly in?: string; readonly example?: unknown }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: Readonly<Record<string, unknown>> }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly example?: { readonly data?: unknown } }>> }>
  >;
}

const document = openApi(operations, '1.2.3');
// The members that these tests look at.
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;
const described = Object.values(paths).flatMap((methods) => Object.values(methods));

const of = (operation: Operation): Described => {
  const [method = '', path = ''] = operation.http.split(' ');
  const found = paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`${operation.name} is not described.`);
  return found;
};

/** The event in a block of an event stream. */
function eventIn(block: unknown): unknown {
  if (typeof block !== 'string') return undefined;
  const fields = new Map(
    block.split('\n').map((line) => {
      const [name = '', value] = line.split(/: (.*)/);
      return [name, value] as const;
    }),
  );
  return { id: fields.get('id'), event: fields.get('event'), data: JSON.parse(fields.get('data') ?? '') as unknown };
}

/** Every object within a value, with the place where it stands. */
function* within(value: unknown, place = '#'): Generator<readonly [string, object]> {
  if (typeof value !== 'object' || value === null) return;
  yield [place, value];
  for (const [name, member] of Object.entries(value)) yield* within(member, `${place}/${name.replaceAll('/', '~1')}`);
}

describe('the API document', () => {
  it('is OpenAPI 3.1 of this version', () =>
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Palimpsest', version: '1.2.3' } }));
  it('has no id twice', () => {
    const ids = described.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(operations.length);
  });
  it('points nowhere outside itself, and never at nothing', () => {
    const objects = [...within(document)];
    const places = new Set(objects.map(([place]) => place));
    const refs = objects.flatMap(([, object]) => ('$ref' in object ? [String(object.$ref)] : []));
    expect(refs.length).toBeGreaterThan(operations.length);
    expect(refs.filter((ref) => !places.has(ref))).toEqual([]);
  });
  it('is JSON without loss', () => expect(JSON.parse(JSON.stringify(document))).toEqual(document));
  it('states the limits of every body', () => {
    const { description } = document['info'] as { readonly description: string };
    for (const limit of ['1048576 bytes', '64 levels', '10000 elements', '16384 bytes'])
      expect(description).toContain(limit);
  });
});

describe('the codes of the enrollment family', () => {
  it.each([
    ['agent.enroll', ['201', '400', '401', '403', '404', '409', '422', '500']],
    ['agent.enrollment.get', ['200', '400', '401', '403', '404', '500']],
  ])('%s declares those of its document and no other', (name, statusesOfIt) => {
    const operation = operations.find((one) => one.name === name);
    expect(operation && Object.keys(of(operation).responses)).toEqual(statusesOfIt);
  });
});

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  const shown = of(operation);

  it('declares every name in its path', () => {
    const named = [...operation.http.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(shown.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named);
  });
  it('declares each refusal it makes', () => {
    const declared = Object.keys(shown.responses);
    for (const code of operation.refuses) expect(declared).toContain(String(statuses[code].http));
    expect(declared).toEqual(expect.arrayContaining(['400', '401', '403', '500']));
    expect(declared).not.toEqual(expect.arrayContaining([expect.stringMatching(/^4(02|29)$/)]));
    if (operation.codes !== 'closed') expect(declared).toContain('503');
  });
  it('shows a request that it takes', () => {
    const inPath = shown.parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name, example }) => [name, example] as const);
    const body = shown.requestBody?.content['application/json']?.example ?? {};
    expect(publicInput(operation).safeParse({ ...body, ...Object.fromEntries(inPath) }).error).toBeUndefined();
  });
  it('shows an answer that it gives', () => {
    const [success] = Object.values(shown.responses);
    const example =
      success?.content?.['application/json']?.example?.data ??
      success?.content?.['application/x-ndjson']?.example ??
      eventIn(success?.content?.['text/event-stream']?.example);
    const item: unknown = Array.isArray(example) && operation.kind === 'list' ? example[0] : example;
    expect(operation.output.safeParse(item).error).toBeUndefined();
  });
});
