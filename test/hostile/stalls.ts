/**
 * How long an event loop is kept from answering (invariant H1). What counts is the time that the main thread computes between two
 * turns of the loop, not the time that passes: other work on the machine would count as well.
 */

/** Longest stall that is allowed, milliseconds. */
export const MAX_STALL_MS = 250

/** Watches the event loop of this process from now on. `longest`: the longest stall since then, or since `reset`, milliseconds. */
export const watchLoop = () => {
  const used = () => {
    const { system, user } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let longest = 0
  let since = used()
  const turn = () => {
    const now = used()
    longest = Math.max(longest, now - since)
    since = now
  }
  const timer = setInterval(turn, 5)
  return {
    longest: (): number => {
      turn()
      return longest
    },
    reset: (): void => {
      turn()
      longest = 0
    },
    stop: () => clearInterval(timer)
  }
}

/** The longest stall of this process while some work goes on, milliseconds. */
export const stallOf = async (work: () => Promise<unknown>): Promise<number> => {
  // What was begun before is not the work's.
  await new Promise((resolve) => setImmediate(resolve))
  const loop = watchLoop()
  try {
    await work()
    return loop.longest()
  } finally {
    loop.stop()
  }
}
