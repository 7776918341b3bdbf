import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * V8 lets the old generation grow to some 250 MB before it looks there for the first time, and then to a multiple of what is in use,
 * by which time buffers that nobody needs any more have piled up, too. From now on it looks whenever the old generation has grown by
 * `growth` per cent. Threads that are started later do as well.
 */
export const collectOften = (growth: number): void => {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  setFlagsFromString("--expose-gc")
  runInNewContext("gc()")
  setFlagsFromString("--no-expose-gc")
}

/**
 * A server's own heap is small, but its start makes much garbage, for which V8 grows the nursery to 48 MB and keeps it. With the
 * nursery that a heap begins with, and frequent looks at the old generation, it takes 150 MB less. Threads, whose heaps are made
 * later, begin with the nursery that they are let have.
 *
 * It is paid for with collections: a relayed mail takes twice the processor time where many come at once. So it is for the server on
 * one machine, and not for `serve`.
 */
export const keepHeapSmall = (): void => {
  for (const flag of ["semi-space-growth-factor=1", "min-semi-space-size=4"]) setFlagsFromString(`--${flag}`)
  collectOften(25)
}
