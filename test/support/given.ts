import { fold, type Aggregate, type DomainEvent } from '../../src/domain/kernel/aggregate.js';
import type { Decision } from '../../src/domain/kernel/decision.js';
import { isRefusal, type RefusalCode } from '../../src/domain/kernel/refusal.js';

const at = '2026-01-01T00:00:00.000Z';

/** given(events).when(decision, ...input).then(events): tests of deciders as sentences. */
export const givenFor =
  <State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>) =>
  (...history: readonly Event[]) => {
    const state = fold(
      aggregate,
      history.map((event, index) => ({ ...event, id: `event-${index}`, revision: index, at })),
    );
    return {
      state,
      when: <Input extends readonly unknown[]>(
        decide: (state: State, ...input: Input) => Decision<Event, RefusalCode>,
        ...input: Input
      ) => {
        const decision = decide(state, ...input);
        return {
          then: (...expected: readonly Event[]) => expect(decision).toEqual(expected),
          thenNothing: () => expect(decision).toEqual([]),
          thenRefused: (code: RefusalCode) => expect(isRefusal(decision) && decision.refused).toBe(code),
        };
      },
    };
  };
