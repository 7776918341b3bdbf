import { expect, it } from "vitest"

import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"
import { bundleForEdge } from "../../support/processes/edge-bundle.ts"
import { withEdgeWorker } from "../../support/processes/edge-worker.ts"

it("writes every mail in workerd, the same as on Node", async () => {
  const samples = Object.values<MailTemplate>(TEMPLATE_SAMPLES)
  const bundle = await bundleForEdge(new URL("worker.ts", import.meta.url))
  expect(bundle.externals).toEqual([])
  expect(bundle.packedBytes).toBeLessThan(200_000)
  await withEdgeWorker({ script: bundle.script, bindings: {} }, async ({ post }) => {
    expect(await post(samples)).toEqual(samples.map(renderMail))
  })
})
