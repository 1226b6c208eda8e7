import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

/** One body that no door may take, and the field that its refusal names. */
export interface HostileBody {
  readonly title: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly param: string;
}

const json = (value: unknown) => JSON.stringify(value);
const bomb = Buffer.alloc(64 * 1_048_576, ' ');
const nested = (levels: number) => `{"metadata":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** For an operation that takes `{title, count?, urls?, metadata?}`: title 1 to 200 code points, count an integer 0 to 10. */
export const hostileBodies: readonly HostileBody[] = [
  { title: 'nothing', body: '{}', param: 'title' },
  { title: 'text that is not JSON', body: '{title}', param: 'body' },
  { title: 'half an object', body: '{"title":"a"', param: 'body' },
  { title: 'half a string', body: '{"title":"a', param: 'body' },
  { title: 'a string that ends in a backslash', body: '{"title":"a\\"}', param: 'body' },
  { title: 'two objects', body: '{"title":"a"}{"title":"b"}', param: 'body' },
  { title: 'a byte order mark', body: `\uFEFF${json({ title: 'a' })}`, param: 'body' },
  { title: 'single quotes', body: "{'title':'a'}", param: 'body' },
  { title: 'a comment', body: '{"title":"a"/*b*/}', param: 'body' },
  { title: 'a trailing comma', body: '{"title":"a",}', param: 'body' },
  { title: 'NaN', body: '{"title":"a","count":NaN}', param: 'body' },
  { title: 'a leading zero', body: '{"title":"a","count":01}', param: 'body' },
  { title: 'closing brackets only', body: ']}]}', param: 'body' },
  { title: 'white space only', body: '  \n ', param: 'body' },
  { title: 'null', body: 'null', param: 'body' },
  { title: 'an array', body: '[{"title":"a"}]', param: 'body' },
  { title: 'a string', body: '"title"', param: 'body' },
  { title: 'a number', body: '7', param: 'body' },
  {
    title: 'a form',
    body: 'title=a',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    param: 'Content-Type',
  },
  { title: 'no type', body: json({ title: 'a' }), headers: { 'content-type': '' }, param: 'Content-Type' },
  { title: 'text/plain', body: json({ title: 'a' }), headers: { 'content-type': 'text/plain' }, param: 'Content-Type' },
  {
    title: 'another type of JSON',
    body: json({ title: 'a' }),
    headers: { 'content-type': 'application/jsonx' },
    param: 'Content-Type',
  },
  {
    title: 'another charset',
    body: json({ title: 'a' }),
    headers: { 'content-type': 'application/json; charset=utf-16' },
    param: 'Content-Type',
  },
  { title: 'Latin-1 bytes', body: Buffer.from('{"title":"\xe9"}', 'latin1'), param: 'body' },
  { title: 'overlong UTF-8', body: Buffer.from('{"title":"\xc0\xaf"}', 'latin1'), param: 'body' },
  { title: 'UTF-8 of half a surrogate pair', body: Buffer.from('{"title":"\xed\xa0\x80"}', 'latin1'), param: 'body' },
  { title: 'UTF-16', body: Buffer.from('{"title":"a"}', 'utf16le'), param: 'body' },
  { title: 'more than a mebibyte', body: json({ title: 'a'.repeat(1_048_577) }), param: 'body' },
  { title: 'a gzip bomb', body: gzipSync(bomb), headers: { 'content-encoding': 'gzip' }, param: 'body' },
  { title: 'a deflate bomb', body: deflateSync(bomb), headers: { 'content-encoding': 'deflate' }, param: 'body' },
  { title: 'a brotli bomb', body: brotliCompressSync(bomb), headers: { 'content-encoding': 'br' }, param: 'body' },
  { title: 'gzip that is none', body: json({ title: 'a' }), headers: { 'content-encoding': 'gzip' }, param: 'body' },
  {
    title: 'half of a gzip',
    body: gzipSync(json({ title: 'a' })).subarray(0, 12),
    headers: { 'content-encoding': 'gzip' },
    param: 'body',
  },
  {
    title: 'an unknown encoding',
    body: json({ title: 'a' }),
    headers: { 'content-encoding': 'zstd' },
    param: 'Content-Encoding',
  },
  {
    title: 'two encodings',
    body: gzipSync(gzipSync('{}')),
    headers: { 'content-encoding': 'gzip, gzip' },
    param: 'Content-Encoding',
  },
  {
    title: 'an encoding named like an inherited member',
    body: '{}',
    headers: { 'content-encoding': 'constructor' },
    param: 'Content-Encoding',
  },
  { title: '65 levels', body: nested(64), param: 'metadata.0.0' },
  { title: '2,000 levels', body: nested(2_000), param: 'metadata.0.0' },
  { title: '500,000 levels', body: '['.repeat(500_000), param: '0.0.0' },
  { title: 'a name twice', body: '{"title":"a","title":"b"}', param: 'title' },
  { title: 'a name twice, once escaped', body: '{"title":"a","\\u0074itle":"b"}', param: 'title' },
  {
    title: 'a name twice further down',
    body: '{"title":"a","metadata":{"x":"1","y":"2","x":"3"}}',
    param: 'metadata.x',
  },
  { title: '__proto__', body: '{"__proto__":{"title":"a"}}', param: '__proto__' },
  { title: '__proto__ escaped', body: '{"\\u005f_proto__":{"title":"a"}}', param: '__proto__' },
  {
    title: '__proto__ further down',
    body: '{"title":"a","metadata":{"__proto__":{"isAdmin":"true"}}}',
    param: 'metadata.__proto__',
  },
  { title: 'constructor', body: '{"title":"a","constructor":{"prototype":{}}}', param: 'constructor' },
  { title: 'an owner', body: '{"title":"a","ownerId":"user_1"}', param: 'ownerId' },
  { title: 'a system flag', body: '{"title":"a","isSystem":true}', param: 'isSystem' },
  { title: 'an unknown field that is no name', body: json({ title: 'a', '<script>': 1 }), param: '(name)' },
  { title: 'a 19-digit number', body: '{"title":"a","count":1234567890123456789}', param: 'count' },
  { title: 'a 19-digit negative number', body: '{"title":"a","count":-1234567890123456789}', param: 'count' },
  { title: '2 to the power of 53', body: '{"title":"a","count":9007199254740992}', param: 'count' },
  { title: 'a number without end', body: '{"title":"a","count":1e999}', param: 'count' },
  { title: 'a number with a million digits', body: `{"title":"a","count":${'9'.repeat(1_000_000)}}`, param: 'count' },
  { title: 'a fraction', body: '{"title":"a","count":1.5}', param: 'count' },
  { title: 'a number out of range', body: '{"title":"a","count":11}', param: 'count' },
  { title: 'a number as text', body: '{"title":"a","count":"1"}', param: 'count' },
  { title: 'a text as number', body: '{"title":1}', param: 'title' },
  { title: 'a text as null', body: '{"title":null}', param: 'title' },
  { title: 'a text as object', body: '{"title":{"$ne":""}}', param: 'title' },
  { title: 'NUL', body: '{"title":"a\\u0000"}', param: 'title' },
  { title: 'NUL in a name', body: '{"title":"a","metadata":{"a\\u0000":"b"}}', param: 'metadata.(name)' },
  { title: 'half a surrogate pair', body: '{"title":"\\ud800"}', param: 'title' },
  { title: 'an empty name', body: '{"title":""}', param: 'title' },
  { title: 'a name of white space', body: '{"title":" \\t "}', param: 'title' },
  { title: 'a name of zero-width characters', body: '{"title":"\\u200b\\u2060\\ufeff"}', param: 'title' },
  { title: '201 code points', body: json({ title: '😀'.repeat(201) }), param: 'title' },
  { title: '200,000 bad items', body: json({ title: 'a', urls: Array<string>(200_000).fill('x') }), param: 'urls' },
  { title: '9,999 bad items', body: json({ title: 'a', urls: Array<string>(9_999).fill('x') }), param: 'urls' },
  { title: '20 bad items', body: json({ title: 'a', urls: Array<string>(20).fill('x') }), param: 'urls.0' },
  {
    title: '50,000 unknown fields',
    body: json(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 0]))),
    param: 'title',
  },
  { title: 'a million small objects', body: `{"title":"a","urls":[${'{},'.repeat(300_000)}{}]}`, param: 'urls' },
  { title: 'an idempotency key that is no uuid', body: '{"title":"a","idempotencyKey":"1"}', param: 'idempotencyKey' },
  {
    title: 'the nil uuid as idempotency key',
    body: '{"title":"a","idempotencyKey":"00000000-0000-0000-0000-000000000000"}',
    param: 'idempotencyKey',
  },
];
