import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * Makes V8 collect the old generation whenever it has grown by `growth` per cent, in this thread and those started later. By
 * default V8 first collects it at some 250 MB and then at a multiple of what is in use; until then unused buffers pile up, too.
 */
export const collectOften = (growth: number): void => {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  setFlagsFromString("--expose-gc")
  runInNewContext("gc()")
  setFlagsFromString("--no-expose-gc")
}

/**
 * Saves 150 MB: the nursery keeps its initial size, and the old generation is collected often. A server's heap is small, but its
 * start makes much garbage, for which V8 grows the nursery to 48 MB and keeps it. Threads start later and use the nursery size
 * that they are given.
 *
 * The price is more collections: under load a relayed mail takes twice the processor time. So this is for the server on one
 * machine, and not for `serve`.
 */
export const keepHeapSmall = (): void => {
  for (const flag of ["semi-space-growth-factor=1", "min-semi-space-size=4"]) setFlagsFromString(`--${flag}`)
  collectOften(25)
}
