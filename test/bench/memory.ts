import type { Load } from "./measure.ts"
import { startPeer } from "./process.ts"
import { withTargets } from "./run.ts"
import type { Memory, Question } from "./senders/sender-process.ts"

/** Memory after so many sends. */
export interface Sample extends Memory {
  readonly sends: number
}

/** Samples the memory of a sending process; the heap is counted after a collection. */
export const measureMemory = (options: {
  readonly sends: number
  readonly samples: number
  readonly onSample?: (sample: Sample) => void
}): Promise<ReadonlyArray<Sample>> =>
  withTargets({ suppressions: 100_000, eventRows: 1 }, async (targets) => {
    const peer = await startPeer("senders/sender-process.ts", [], { execArgv: ["--expose-gc"] })
    try {
      const samples: Array<Sample> = []
      const load: Load = { concurrency: 32, count: options.sends / options.samples }
      for (let each = 1; each <= options.samples; each++) {
        await peer.ask({ row: "Mailer.send, Resend, keys", load, targets } satisfies Question)
        const memory = (await peer.ask({ memory: true } satisfies Question)) as Memory
        const sample = { sends: (each * options.sends) / options.samples, ...memory }
        samples.push(sample)
        options.onSample?.(sample)
      }
      return samples
    } finally {
      await peer.stop()
    }
  })
