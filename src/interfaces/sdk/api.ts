import type { z } from 'zod';
import type { Operations } from '../../application/registry.js';
import type { Call } from './call.js';
import type { Following } from './following.js';
import type { Lines } from './lines.js';
import type { Listing } from './listing.js';
import type { Alias, Place } from './names.js';
import type { CommandOptions, ReadOptions } from './options.js';

/** The methods of the client by family, all of them derived from the registry: a new operation is here by itself. */
export type Api = Nested<{
  readonly [Op in Operations as Place<Op['name']> | Alias<Op['name']> | FormerPlace<Op>]: Method<Op>;
}>;

/** Where a renamed operation was found before. */
type FormerPlace<Op extends Operations> = Op extends { readonly recordedAs?: infer Former extends string }
  ? Place<Former>
  : never;

/** `{'a.b': X}` as `{a: {b: X}}`. */
type Nested<Flat> = {
  readonly [Head in HeadOf<keyof Flat>]: Head extends keyof Flat ? Flat[Head] : Nested<Beneath<Flat, Head>>;
};
type HeadOf<Path> = Path extends `${infer Head}.${string}` ? Head : Path;
type Beneath<Flat, Head> = {
  readonly [Path in keyof Flat as Path extends `${Head & string}.${infer Rest}` ? Rest : never]: Flat[Path];
};

type Method<Op extends Operations> = (...args: [...Ids<Op['http']>, ...Body<Op>, options?: Options<Op>]) => Result<Op>;

/** One for each name in the path. */
type Ids<Http extends string> = Http extends `${string}{${string}}${infer Rest}` ? [id: string, ...Ids<Rest>] : [];
type NameIn<Http extends string> = Http extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never;

/** What of the input is not in the path. */
type Fields<Op extends Operations> = Pick<z.input<Op['input']>, FieldOf<Op>>;
type FieldOf<Op extends Operations> = Exclude<keyof Op['input']['shape'], NameIn<Op['http']>> &
  keyof z.input<Op['input']>;

type Body<Op extends Operations> = [FieldOf<Op>] extends [never]
  ? []
  : IsText<Op> extends true
    ? [text: string]
    : object extends Fields<Op>
      ? [input?: Fields<Op>]
      : [input: Fields<Op>];

/** What puts one thing in its place takes the thing itself. */
type IsText<Op extends Operations> = Op['http'] extends `PUT ${string}` ? IsOne<FieldOf<Op>> : false;
type IsOne<Names, Each = Names> = Each extends unknown ? ([Names] extends [Each] ? true : false) : never;

type Options<Op extends Operations> = Op['kind'] extends 'command' ? CommandOptions : ReadOptions;

type Result<Op extends Operations> = Op['kind'] extends 'list'
  ? Listing<z.output<Op['output']>>
  : Op['kind'] extends 'stream'
    ? Lines<z.output<Op['output']>>
    : Op['kind'] extends 'events'
      ? Following<z.output<Op['output']>>
      : Call<z.output<Op['output']>>;
