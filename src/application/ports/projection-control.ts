/** A lag beyond this is not counted. */
export const mostLag = 1_000;

export interface ProjectionStatus {
  readonly name: string;
  readonly position: string;
  /** Events of the log that it does not show yet, `mostLag` at most. */
  readonly lag: number;
  readonly parked: number;
  readonly rebuilding: boolean;
}

export interface ProjectionControl {
  list(): Promise<readonly ProjectionStatus[]>;
  /** Rebuilds a read model beside the live one and swaps them; undefined when there is none of that name. */
  rebuild(
    name: string,
  ): Promise<{ readonly name: string; readonly events: number; readonly position: string } | undefined>;
}
