import { Context, type Effect } from "effect"

/** The metrics of this process. */
export class MetricsPage extends Context.Service<
  MetricsPage,
  {
    /** In Prometheus' text format. It never fails, and waits for nothing that is away for longer than a second. */
    readonly text: Effect.Effect<string>
  }
>()("postlane/ports/MetricsPage") {}
