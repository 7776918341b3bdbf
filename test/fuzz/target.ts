import type * as fc from "fast-check"

import type { Attacked, Measured } from "../hostile/server.ts"

/** What is fuzzed. Every input is bytes, so that any can be changed at random, kept as a file and replayed. */
export interface Target {
  readonly name: string
  /** What it reads, in words. */
  readonly about: string
  /** Longest that one input may take until its answer, milliseconds. */
  readonly limitMs: number
  /** Most memory that the reading process may take, MB. */
  readonly memoryMb: number
  /** Whether what decides runs in this process, where its coverage can be seen. */
  readonly guided: boolean
  /** What the first inputs are made of: real files, and those that the tests make. */
  readonly seeds: () => ReadonlyArray<Buffer>
  /** Inputs by a grammar. */
  readonly made: fc.Arbitrary<Buffer>
  /** What means something to the reader: put in anywhere. */
  readonly words: ReadonlyArray<string>
  readonly open: (server: Serve) => Promise<Opened>
}

/** Starts the server that a target attacks, or gives the one that runs. */
export type Serve = () => Promise<Attacked>

/** A target that takes inputs. */
export interface Opened {
  /** The class of an input's answer. Rejects with what must not be: anything but a declared answer. */
  readonly answer: (input: Buffer) => Promise<string>
  /** Where another process reads: measures that one. */
  readonly measure?: (attack: () => Promise<unknown>) => Promise<Measured>
  readonly close: () => Promise<void>
}

/** An answer that no input may cause. */
export class Broken extends Error {}

/** Throws {@link Broken} where a rule does not hold. */
export const hold = (holds: boolean, rule: string): void => {
  if (!holds) throw new Broken(rule)
}

/** A figure in rough steps: what differs by more than chance is another class. */
export const rough = (count: number): string => (count === 0 ? "0" : `2^${Math.floor(Math.log2(count))}`)
