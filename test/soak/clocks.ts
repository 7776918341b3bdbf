import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const PRELOAD = new URL("stepped-clock.ts", import.meta.url).href

/** The clocks of the processes: one a slot, which its next process has, too. */
export interface Clocks {
  readonly envOf: (slot: string) => Readonly<Record<string, string>>
  /** Steps the clock of a slot, so that it is off by so much. */
  readonly set: (slot: string, offsetMs: number) => void
}

export const makeClocks = (folder: string, slots: ReadonlyArray<string>): Clocks => {
  const clocks = join(folder, "clocks")
  mkdirSync(clocks, { recursive: true })
  const fileOf = (slot: string) => join(clocks, slot)
  // Renamed: no process sees half of a number.
  const set: Clocks["set"] = (slot, offsetMs) => {
    writeFileSync(`${fileOf(slot)}.new`, String(offsetMs))
    renameSync(`${fileOf(slot)}.new`, fileOf(slot))
  }
  for (const slot of slots) set(slot, 0)
  return {
    envOf: (slot) => ({ NODE_OPTIONS: `--import=${PRELOAD}`, SOAK_CLOCK_FILE: fileOf(slot) }),
    set
  }
}
