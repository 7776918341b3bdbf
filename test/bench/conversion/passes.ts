/** Runs `work` so many times, one after the other: what the last one took. Those before it warm it up. */
export const passes = async (
  times: number,
  work: () => Promise<void>
): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> => {
  let figures = { seconds: 0, cpuSeconds: 0 }
  for (let pass = 0; pass < times; pass++) {
    const started = performance.now()
    const cpu = process.cpuUsage()
    await work()
    const { system, user } = process.cpuUsage(cpu)
    figures = { seconds: (performance.now() - started) / 1_000, cpuSeconds: (user + system) / 1e6 }
  }
  return figures
}
