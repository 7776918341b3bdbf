import { existsSync, readdirSync, readFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"

import { type Context, Effect, Metric, type Scope } from "effect"

import { counter } from "../../application/counters.ts"

const gauge = (name: string, description: string, attributes?: Readonly<Record<string, string>>) =>
  Metric.gauge(name, { description, attributes })

/** How long a look at the event loop holds, so that its gauges are of one time. */
const LAG_HOLDS_MS = 1_000

interface Lag {
  readonly at: number
  readonly mean: number
  readonly p99: number
  readonly max: number
}

/** The delays of the event loop since the last look, in seconds. */
const eventLoopLag = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution: 20 })
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  ),
  (delays) => {
    let last: Lag = { at: Number.NEGATIVE_INFINITY, mean: 0, p99: 0, max: 0 }
    return (): Lag => {
      const now = performance.now()
      if (now - last.at < LAG_HOLDS_MS) return last
      // Without a sample the mean is no number.
      const seconds = (nanos: number) => (delays.count === 0 ? 0 : nanos / 1e9)
      last = {
        at: now,
        mean: seconds(delays.mean),
        p99: seconds(delays.percentile(99)),
        max: seconds(delays.max)
      }
      delays.reset()
      return last
    }
  }
)

/** Open file descriptors and their limit, if the system reports them (Linux). */
const fileDescriptors = (): ReadonlyArray<readonly [Metric.Gauge<number>, () => number]> => {
  if (!existsSync("/proc/self/fd")) return []
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1])
  const open = () => {
    try {
      return readdirSync("/proc/self/fd").length
    } catch {
      // None is left to look with.
      return limit
    }
  }
  return [
    [gauge("process_open_fds", "Number of open file descriptors."), open],
    [gauge("process_max_fds", "Maximum number of open file descriptors."), () => limit]
  ]
}

/** Values that are read whenever somebody looks. */
const gauges = (lag: () => Lag): ReadonlyArray<readonly [Metric.Gauge<number>, () => number]> => {
  const startedAt = performance.timeOrigin / 1000
  return [
    [
      gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
      () => startedAt
    ],
    [
      gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
      () => process.memoryUsage.rss()
    ],
    ...fileDescriptors(),
    [
      gauge("nodejs_heap_size_total_bytes", "Process heap size from Node.js in bytes."),
      () => process.memoryUsage().heapTotal
    ],
    [
      gauge("nodejs_heap_size_used_bytes", "Process heap size used from Node.js in bytes."),
      () => process.memoryUsage().heapUsed
    ],
    [
      gauge("nodejs_external_memory_bytes", "Node.js external memory size in bytes."),
      () => process.memoryUsage().external
    ],
    [
      gauge("nodejs_eventloop_lag_mean_seconds", "The mean of the event loop delays since the last look."),
      () => lag().mean
    ],
    [
      gauge("nodejs_eventloop_lag_p99_seconds", "The 99th percentile of the event loop delays since then."),
      () => lag().p99
    ],
    [
      gauge("nodejs_eventloop_lag_max_seconds", "The maximum of the event loop delays since then."),
      () => lag().max
    ],
    [gauge("nodejs_version_info", "Node.js version info.", { version: process.version }), () => 1]
  ]
}

const COUNTERS: ReadonlyArray<readonly [Metric.Counter<number>, () => number]> = [
  [
    counter("process_cpu_user_seconds_total", "Total user CPU time spent in seconds."),
    () => process.cpuUsage().user / 1e6
  ],
  [
    counter("process_cpu_system_seconds_total", "Total system CPU time spent in seconds."),
    () => process.cpuUsage().system / 1e6
  ],
  [
    counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
    () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6
  ]
]

const pushedByNobody = { update: () => undefined, modify: () => undefined }

/** Shows the process under the conventional names, and which version it runs, for as long as the scope is open. */
export const showProcess = (version: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(eventLoopLag, (lag) =>
    Effect.contextWith((context: Context.Context<Scope.Scope>) => {
      const build = gauge("postlane_build_info", "1, with the version as a label.", { version })
      const registered = [
        ...[...gauges(lag), [build, () => 1] as const].map(([metric, read]) =>
          Metric.registerUnsafe(metric, context, { get: () => ({ value: read() }), ...pushedByNobody })
        ),
        ...COUNTERS.map(([metric, read]) =>
          Metric.registerUnsafe(metric, context, {
            get: () => ({ count: read(), incremental: true }),
            ...pushedByNobody
          })
        )
      ]
      return Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const series of registered) series.remove()
        })
      )
    })
  )
