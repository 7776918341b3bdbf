import type { TestProject } from "vitest/node"

import setup from "../../support/global-setup.ts"
import { startPgbouncer } from "./start.ts"

/** The suite's own server, which the tests see through PgBouncer in transaction mode alone. */
export default async function pooled(project: TestProject) {
  const provided = new Map<string, string>()
  const direct = {
    provide: (name: string, value: string) => void provided.set(name, value),
    onTestsRerun: () => undefined
  }
  const stop = await setup(direct as unknown as TestProject)
  const url = new URL(provided.get("postgresUrl") ?? "")
  const pooler = await startPgbouncer(process.env["OUTSIDE_POOLED"] ?? "", Number(url.port))
  url.port = String(pooler.port)
  project.provide("postgresUrl", url.href)
  return async () => {
    await pooler.stop()
    await stop()
  }
}
