import { Session } from "node:inspector/promises"

const OWN = new URL("../../src/", import.meta.url).href

/** Which blocks of our own code have run in this process since the last look. */
export const watchCoverage = async () => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  return {
    take: async (): Promise<ReadonlySet<string>> => {
      const { result } = await session.post("Profiler.takePreciseCoverage")
      return new Set(
        result
          .filter(({ url }) => url.startsWith(OWN))
          .flatMap(({ functions, url }) =>
            functions.flatMap(({ ranges }) =>
              ranges
                .filter(({ count }) => count > 0)
                .map(({ endOffset, startOffset }) => `${url}:${startOffset}-${endOffset}`)
            )
          )
      )
    },
    stop: () => session.disconnect()
  }
}

export type Coverage = Awaited<ReturnType<typeof watchCoverage>>
