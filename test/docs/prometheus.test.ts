import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { Effect, Layer, Metric } from "effect"
import { assert, describe, expect, it } from "vitest"
import { parse } from "yaml"

import { ALARMS } from "../../src/domain/delivery/alarm-rules.ts"
import { HealthBoard, OPEN, QUEUES } from "../../src/ports/delivery/health-board.ts"
import { MetricsPage } from "../../src/ports/metrics-page.ts"
import { Readiness } from "../../src/ports/readiness.ts"
import { layer } from "../../src/runtime/process/metrics-page.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const textOf = (path: string) => readFileSync(`${root}/${path}`, "utf8")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

const rules = (
  parse(textOf("docs/operate/prometheus/rules.yml")) as {
    readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>
  }
).groups.flatMap((group) => group.rules)

const { tests } = parse(textOf("docs/operate/prometheus/rules.test.yml")) as {
  readonly tests: ReadonlyArray<{
    readonly input_series: ReadonlyArray<{ readonly series: string }>
    readonly alert_rule_test?: ReadonlyArray<{
      readonly alertname: string
      readonly exp_alerts: ReadonlyArray<unknown>
    }>
  }>
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const { panels } = JSON.parse(textOf("docs/operate/grafana/postlane.json")) as {
  readonly panels: ReadonlyArray<Panel>
}

/** Names of metrics that the code makes: they stand in it as whole texts. */
const made = new Set(
  globSync("src/**/*.ts", { cwd: root }).flatMap((path) =>
    [...textOf(path).matchAll(/"((?:postlane|process|nodejs)_[a-z0-9_]+)"/g)].map(([, name = ""]) => name)
  )
)

const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\b(?:postlane|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)

const isMade = (name: string) => made.has(name) || made.has(name.replace(/_(?:bucket|sum|count)$/, ""))

/** The page of a process that has done nothing yet, with every figure that it can show. */
const shown = Effect.map(
  MetricsPage.use((page) => page.text),
  (text) => new Set([...text.matchAll(/\b\w+="[^"]*"/g)].map(([pair]) => pair))
).pipe(
  Effect.provide(
    Layer.provide(layer({ version: "1.2.3", figures: true }), [
      Layer.succeed(
        Readiness,
        Readiness.of({ report: Effect.succeed({ ready: true, checks: [], supervisors: [] }) })
      ),
      Layer.mock(HealthBoard, {
        figures: Effect.succeed({
          queues: QUEUES.map((name) => ({ name, waiting: 0, oldestSeconds: 0 })),
          overdueRetries: 0,
          jobs: OPEN.jobs.map((state) => ({ state, count: 0 })),
          chunks: OPEN.chunks.map((state) => ({ state, count: 0 })),
          batchJobs: OPEN.batchJobs.map((state) => ({ state, count: 0 })),
          newestEvents: []
        })
      })
    ])
  ),
  Effect.provideService(Metric.MetricRegistry, new Map())
)

/** Each value that a label is compared with, as the page shows it; `job` is the scraper's own. */
const comparedIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)]
    .filter(([, label]) => label !== "job")
    .flatMap(([, label, values = ""]) => values.split("|").map((value) => `${label}="${value}"`))

/** The headings of a page, as addresses lead to them. */
const anchorsOf = (path: string) =>
  new Set(
    [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-")
    )
  )

describe("the rules and the board", () => {
  it("names metrics that the code makes", () => {
    const asked = [
      ...rules.map(({ expr }) => expr),
      ...tests.flatMap(({ input_series }) => input_series.map(({ series }) => series)),
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    ].flatMap(namesIn)
    assert.isAbove(asked.length, 80)
    expect([...new Set(asked)].filter((name) => !isMade(name))).toEqual([])
  })

  it("compares labels with values that the code gives them: another one would never fire", async () => {
    const compared = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    ].flatMap(comparedIn)
    assert.isAbove(compared.length, 8)
    const known = await Effect.runPromise(shown)
    expect(compared.filter((pair) => !known.has(pair))).toEqual([])
    expect(known.has('status="refused"')).toBe(false)
  })

  it("leads to a runbook that is there, from every rule, and from every alarm", () => {
    const values: Readonly<Record<string, ReadonlyArray<string>>> = {
      alarm: ALARMS,
      source: ["provider_a", "provider_b"],
      provider: ["provider_a", "provider_b"]
    }
    const led = rules.flatMap(({ annotations: { runbook } }) => {
      const label = /\{\{ \$labels\.(\w+) \}\}/.exec(runbook)
      if (label === null) return [runbook]
      return (values[label[1] ?? ""] ?? []).map((value) => runbook.replace(label[0], value))
    })
    assert.isAtLeast(led.length, rules.length)
    expect(
      led.filter((place) => {
        const [path = "", anchor] = place.split("#")
        return anchor !== undefined && !anchorsOf(path).has(anchor)
      })
    ).toEqual([])
  })

  it("every rule has a test in which it fires, and one in which it does not", () => {
    const fires = new Set(
      tests.flatMap(({ alert_rule_test = [] }) =>
        alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname)
      )
    )
    expect(rules.map(({ alert }) => alert).filter((alert) => !fires.has(alert))).toEqual([])
    expect(textOf("docs/operate/prometheus/rules.test.yml")).toMatch(
      /ALERTS\{alertstate="firing"\}.*exp_samples: \[\]/
    )
  })

  it("panels of the board have numbers and titles of their own", () => {
    assert.isAbove(panels.length, 20)
    assert.strictEqual(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.strictEqual(new Set(panels.map(({ title }) => title)).size, panels.length)
  })
})
