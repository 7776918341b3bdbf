/**
 * Longest wait for something that a test expects, milliseconds: no machine is as slow. It only gives what never comes a name, in place of
 * the time limit of the test.
 */
export const LONGEST_WAIT_MS = 600_000

/** Time limit of each test and each of its hooks, milliseconds, which only ends what hangs. */
export const TIME_LIMIT_MS = 900_000
