import ts from 'typescript';
import { z } from 'zod';

/** The client's methods as a declaration file: types as the checker knows them, sentences as the operations have them. */
export function apiText(checker, api, { operations, codesOf, placesOf }) {
  const byPlace = new Map(
    operations.flatMap((operation) =>
      placesOf(operation.name, operation.recordedAs).map((at) => [at.join('.'), operation]),
    ),
  );
  const print = printerOf(checker);

  const members = (type, at) =>
    checker.getPropertiesOfType(type).map((property) => member(property.name, checker.getTypeOfSymbol(property), at));

  function member(name, type, at) {
    const place = [...at, name];
    const [signature] = checker.getSignaturesOfType(type, ts.SignatureKind.Call);
    if (!signature) return `readonly ${name}: ${block(members(type, place))};`;
    return method(name, signature, byPlace.get(place.join('.')));
  }

  function method(name, signature, operation) {
    const [input, output] = [jsonSchema(operation.input, 'input'), jsonSchema(operation.output, 'output')];
    // One rest parameter, whose type is a tuple of the parameters there are.
    const tuple = checker.getTypeOfSymbol(signature.parameters[0]);
    const parameters = checker.getTypeArguments(tuple).map((type, index) => {
      const isOptional = tuple.target.elementFlags[index] & ts.ElementFlags.Optional;
      const label = tuple.target.labeledElementDeclarations[index].name.text;
      const text = print(isOptional ? checker.getNonNullableType(type) : type, label === 'input' ? input : undefined);
      return `${label === 'id' && index > 0 ? 'innerId' : label}${isOptional ? '?' : ''}: ${text}`;
    });
    const result = checker.getReturnTypeOfSignature(signature);
    const [told] = checker.getTypeArguments(result);
    const text = `${name}(${parameters.join(', ')}): ${result.symbol.name}<${print(told, output)}>;`;
    return `${comment(sentences(operation, codesOf))}\n${text}`;
  }

  return [
    ...['call', 'following', 'lines', 'listing'].map((file) => `import type { ${capital(file)} } from './${file}.js';`),
    `import type { CommandOptions, ReadOptions } from './options.js';`,
    '',
    '/** The methods of the client by family. */',
    `export interface Api ${block(members(api, []))}`,
    '',
  ].join('\n');
}

const capital = (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const sentences = ({ summary, http, scope, ...operation }, codesOf) => [
  summary,
  '',
  `\`${http}\`, with the scope \`${scope}\`.`,
  '',
  `@throws {PalimpsestError} with one of these codes: ${[...codesOf({ ...operation, http })].sort().join(', ')}.`,
];

const comment = (lines) =>
  lines.length === 1
    ? `/** ${safe(lines[0])} */`
    : ['/**', ...lines.map((line) => ` * ${safe(line)}`.trimEnd()), ' */'].join('\n');

const safe = (line) => line.replaceAll('*/', '*\\/');

const block = (lines) => (lines.length === 0 ? '{}' : `{\n${indented(lines.join('\n'))}\n}`);
const indented = (text) => text.replace(/^(?=.)/gm, '  ');

/** Writes types out; descriptions and limits come from the JSON schema that the type has. */
function printerOf(checker) {
  const printed = (type, schema) => {
    if (type.isUnion()) return union(type, schema);
    if (!(type.flags & ts.TypeFlags.Object)) return checker.typeToString(type);
    if (checker.isArrayType(type)) return listOf(printed(checker.getTypeArguments(type)[0], schema?.items));
    if (['CommandOptions', 'ReadOptions'].includes(type.symbol.name)) return type.symbol.name;
    const [index] = checker.getIndexInfosOfType(type);
    if (index) return `{ [name: string]: ${printed(index.type)} }`;
    return block(
      checker.getPropertiesOfType(type).map((property) => member(property, schema?.properties?.[property.name])),
    );
  };

  const union = ({ types }, schema) => {
    const variants = schema?.anyOf ?? schema?.oneOf ?? [];
    const known = variants.filter((variant) => variant.type !== 'null');
    const texts = new Set(types.map((type) => printed(type, variants.length === 0 ? schema : sole(known))));
    // The checker has true and false apart; what is not there goes last.
    if (texts.has('true') && texts.delete('false')) texts.add('boolean').delete('true');
    for (const absent of ['null', 'undefined']) if (texts.delete(absent)) texts.add(absent);
    return [...texts].join(' | ');
  };

  const member = (property, schema) => {
    const isOptional = property.flags & ts.SymbolFlags.Optional;
    const said = describe(schema);
    const text = `${property.name}${isOptional ? '?' : ''}: ${printed(checker.getTypeOfSymbol(property), schema)};`;
    return said === '' ? text : `${comment([said])}\n${text}`;
  };

  return printed;
}

const sole = (list) => (list.length === 1 ? list[0] : undefined);
const listOf = (text) => (/^\w+$/.test(text) ? `${text}[]` : `Array<${text}>`);

const jsonSchema = (schema, io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' });

/** What of a schema a type does not say. */
function describe(schema = {}) {
  const { description, format, type, minimum, maximum, maxLength, default: fallback } = schema;
  const bounded = type === 'integer' && Math.abs(maximum ?? Infinity) < Number.MAX_SAFE_INTEGER;
  return [
    description,
    format === 'date-time' && 'RFC 3339, UTC.',
    bounded && `${minimum} to ${maximum}.`,
    maxLength !== undefined && description === undefined && `At most ${maxLength} characters.`,
    fallback !== undefined && `Default ${JSON.stringify(fallback)}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
