/** Time comes from here, so that decisions stay pure. */
export interface Clock {
  now(): Date;
}
