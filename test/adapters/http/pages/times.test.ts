import { expect, it } from "vitest"

import { ago, moment } from "../../../../src/adapters/http/pages/ui.ts"

it.each([ago, moment])("a time of a database, which counts microseconds, is one that HTML knows", (show) => {
  for (const [iso, known] of [
    ["2026-11-30T03:02:47.288920Z", "2026-11-30T03:02:47.288Z"],
    ["2026-11-30T03:02:47Z", "2026-11-30T03:02:47Z"]
  ] as const)
    expect(show(iso).toString()).toContain(`<time datetime="${known}"`)
})
