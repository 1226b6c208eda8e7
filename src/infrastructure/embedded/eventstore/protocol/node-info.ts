import { WireWriter } from '../../../protobuf/wire.js';

/** The release of the real server whose protocol this one speaks. */
export const SERVER_VERSION = '24.10.0';

export interface Method {
  readonly service: string;
  readonly method: string;
  readonly features: readonly string[];
}

export function supportedMethods(methods: readonly Method[]): Buffer {
  const answer = new WireWriter();
  for (const { service, method, features } of methods) {
    answer.message(1, (supported) => {
      supported.string(1, method).string(2, service);
      for (const feature of features) supported.string(3, feature);
    });
  }
  return answer.string(2, SERVER_VERSION).finish();
}

const LEADER = 8;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The address in the `:authority` of a call: where its client has reached this node, and can reach it again. */
export function addressIn(authority: string | undefined): Partial<Address> {
  const [, host, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(authority ?? '') ?? [];
  return { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port: Number(port) }) };
}

/** A cluster of one, which leads itself. */
export const clusterOfOne = (instanceId: string, { host, port }: Address, now: number): Buffer =>
  new WireWriter()
    .message(1, (member) =>
      member
        .message(1, (uuid) => uuid.string(2, instanceId))
        .number(2, now * 10_000)
        .number(3, LEADER)
        .number(4, 1)
        .message(5, (endPoint) => endPoint.string(1, host).number(2, port)),
    )
    .finish();
