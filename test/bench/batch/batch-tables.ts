import { markdown } from "../report.ts"
import type { SpeedLine } from "./batch-speed.ts"
import type { TickLine } from "./batch-ticks.ts"

const whole = (value: number): string => Math.round(value).toLocaleString("en")

/** The table of what the lane costs beside the bare work. */
export const speedTable = (lines: ReadonlyArray<SpeedLine>): string =>
  markdown([
    ["work (beside)", "items", "a second", "bare", "CPU ms each", "bare", "ratio", "of CPU", "target", ""],
    ...lines.map((line) => [
      line.name,
      whole(line.items),
      whole(line.perSecond),
      whole(line.barePerSecond),
      line.cpuMs.toFixed(2),
      line.bareCpuMs.toFixed(2),
      line.ratio.toFixed(2),
      line.cpuRatio.toFixed(2),
      `≥ ${line.target} ×`,
      line.ratio < line.target ? "missed" : "met"
    ])
  ])

/** The table of the driver's ticks. */
export const tickTable = (lines: ReadonlyArray<TickLine>): string =>
  markdown([
    ["open rows", "due", "queries", "asked of the service", "median ms", "longest ms"],
    ...lines.map(({ asked, due, longest, median, openRows, queries }) => [
      whole(openRows),
      due ? "all" : "none",
      String(queries),
      String(asked),
      median.toFixed(1),
      longest.toFixed(1)
    ])
  ])
