import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { programOf } from "../../support/processes/child.ts"
import { markdown } from "../report.ts"
import type { BatchFigures } from "./batch-memory-process.ts"

/** With room, V8 lets garbage lie; what a step needs shows where there is little. */
const LITTLE_ROOM = ["--max-old-space-size=64", "--max-semi-space-size=4"]

const PROCESS = "test/bench/batch/batch-memory-process.ts"

/** Input and output of a record together, with room to spare. */
const BYTES_A_RECORD = 200_000

/** A line of the table. */
export interface BatchLine extends BatchFigures {
  readonly step: "prepare" | "collect"
}

/** Prepares and collects batches of these sizes on disk, in a process each; the folder is gone afterwards. */
export const measureBatchMemory = (sizes: ReadonlyArray<number>): ReadonlyArray<BatchLine> =>
  sizes.flatMap((records) => {
    const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
    try {
      const { bavail, bsize } = statfsSync(folder)
      if (bavail * bsize < records * BYTES_A_RECORD) throw new Error(`${folder} has too little room`)
      const take = (step: string) =>
        JSON.parse(
          execFileSync(
            process.execPath,
            [...LITTLE_ROOM, programOf(PROCESS), step, folder, String(records)],
            {
              encoding: "utf8"
            }
          )
        ) as BatchFigures
      const prepared = take("prepare")
      take("answer")
      return [
        { step: "prepare", ...prepared },
        { step: "collect", ...take("collect") }
      ] as const
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

/** Peak memory of a step at the last size over that at the first. */
export const memoryRatio = (lines: ReadonlyArray<BatchLine>, step: BatchLine["step"]): number => {
  const peaks = lines.filter((line) => line.step === step).map(({ peakBytes }) => peakBytes)
  return (peaks.at(-1) ?? NaN) / (peaks[0] ?? NaN)
}

/** The table for docs/explanation/performance.md. */
export const batchTable = (lines: ReadonlyArray<BatchLine>): string =>
  markdown([
    ["records", "GB", "work", "records/s", "CPU ms a record", "peak RSS MB", "above the start"],
    ...lines.map(({ bytes, cpuSeconds, peakBytes, records, seconds, startBytes, step }) => [
      records.toLocaleString("en"),
      (bytes / 1e9).toFixed(2),
      step,
      String(Math.round(records / seconds)),
      ((cpuSeconds / records) * 1_000).toFixed(2),
      String(Math.round(peakBytes / 1024 / 1024)),
      String(Math.round((peakBytes - startBytes) / 1024 / 1024))
    ])
  ])
