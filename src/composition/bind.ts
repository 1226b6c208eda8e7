import 'reflect-metadata';
import { Container } from 'inversify';

/** Names a service, and carries its type. */
export interface Token<Service> {
  readonly id: symbol;
  /** Never set: it makes tokens of different services different types. */
  readonly service?: Service;
}

export const token = <Service>(name: string): Token<Service> => ({ id: Symbol.for(name) });

type ServicesOf<Needs extends readonly Token<unknown>[]> = {
  [Index in keyof Needs]: Needs[Index] extends Token<infer Service> ? Service : never;
};

/** Binds a token to what makes its service, once for the process, from the services of other tokens. */
export type Bind = <Service, const Needs extends readonly Token<unknown>[]>(
  bound: Token<Service>,
  needs: Needs,
  make: (...services: ServicesOf<Needs>) => Service | Promise<Service>,
) => void;

/** Has a service closed when the process ends: last opened, first closed. */
export type Closing = <Service extends { close(): Promise<void> }>(service: Service) => Service;

/** Binds the services of one part of the program. */
export type Module = (bind: Bind, closing: Closing) => void;

export interface Services {
  readonly get: <Service>(token: Token<Service>) => Promise<Service>;
  /** Closes what was opened, last opened first, so that nothing loses what it stands on. */
  readonly close: () => Promise<void>;
}

/** Loads modules. A service is made when it is first asked for; a later module may bind a token anew. */
export function load(modules: readonly Module[]): Services {
  const container = new Container({ defaultScope: 'Singleton' });
  const opened: { close(): Promise<void> }[] = [];
  const bind: Bind = (bound, needs, make) => {
    // The tuple types of `needs` and `make` were paired by Bind; the container knows symbols only.
    const untyped = make as (...services: unknown[]) => unknown;
    if (container.isBound(bound.id)) container.unbind(bound.id);
    container.bind(bound.id).toResolvedValue(
      untyped,
      needs.map(({ id }) => id),
    );
  };
  const closing: Closing = (service) => {
    opened.push(service);
    return service;
  };
  for (const module of modules) module(bind, closing);
  return {
    get: ({ id }) => container.getAsync(id),
    async close() {
      for (const service of opened.splice(0).reverse()) await service.close();
    },
  };
}
