import { readFile } from "node:fs/promises"

import { assert, beforeAll, describe, it } from "vitest"

import { faultMatrixPage } from "../../scripts/generate-fault-matrix.ts"
import { dedupes, type Provider } from "../../src/domain/mail/provider.ts"
import { type Cell, CELLS, nameOf, PRIMARIES } from "./cells.ts"
import { type Row, runFaultMatrix } from "./matrix.ts"
import { copiesOf, otherThan, type PostlaneRun } from "./postlane.ts"

let rows: ReadonlyArray<Row> = []

beforeAll(async () => {
  rows = await runFaultMatrix()
})

const rowOf = (cell: Cell): Row => {
  const row = rows.find((one) => one.cell === cell)
  assert.isDefined(row)
  return row
}

const providersWithCopies = ({ copies }: PostlaneRun): ReadonlyArray<Provider> =>
  PRIMARIES.filter((provider) => copies[provider] > 0)

/** What the caller has to get, by what the answer proves. */
const expectResult = ({ outcome, primary }: Cell, { asked, result, retries }: PostlaneRun): void => {
  const fallback = otherThan(primary)
  const { meaning } = outcome
  assert.strictEqual(asked[fallback], meaning === "unavailable" ? 1 : 0, "requests to the fallback (S3)")
  assert.strictEqual(asked[primary], outcome.fault === "refused" ? 0 : 1, "requests to the primary")
  assert.strictEqual(retries, meaning === "ambiguous" ? 1 : 0, "retries")
  const { failedOver, provider, status } = result
  const got = { failedOver, provider, status, kind: result.status === "failed" ? result.kind : undefined }
  const expected = {
    accepted: { status: "sent", provider: primary, failedOver: false, kind: undefined },
    unavailable: { status: "sent", provider: fallback, failedOver: true, kind: undefined },
    rejected: { status: "failed", provider: primary, failedOver: false, kind: "rejected" },
    ambiguous: { status: "deferred", provider: primary, failedOver: false, kind: undefined }
  } as const
  assert.deepStrictEqual<unknown>(got, expected[meaning], "what the caller got (S2, S5)")
}

/** The one case that a retry cannot tell from a mail that was lost: no dedupe, no evidence, and a copy is out. */
const mayLeaveTwo = ({ accepted, outcome, primary }: Cell): boolean =>
  !dedupes(primary) && outcome.meaning === "ambiguous" && accepted

describe("fault matrix: Postlane", () => {
  it.each(CELLS.map((cell) => [nameOf(cell), cell] as const))("%s", (_, cell) => {
    const { postlane } = rowOf(cell)
    const rejected = cell.outcome.meaning === "rejected"
    expectResult(cell, postlane)
    assert.strictEqual(postlane.finalStatus, rejected ? "failed" : "sent", "the key's final status (D1)")
    assert.strictEqual(providersWithCopies(postlane).length, rejected ? 0 : 1, "providers with a copy (S2)")
    if (mayLeaveTwo(cell)) assert.isAtMost(copiesOf(postlane), 2, "copies")
    else assert.strictEqual(copiesOf(postlane), rejected ? 0 : 1, "copies (S1)")
  })
})

describe("fault matrix: Postlane, an event recorded before the retry", () => {
  it.each(CELLS.filter(({ accepted }) => accepted).map((cell) => [nameOf(cell), cell] as const))(
    "%s",
    (_, cell) => {
      const { withEvent } = rowOf(cell)
      assert.isDefined(withEvent)
      expectResult(cell, withEvent)
      assert.strictEqual(withEvent.finalStatus, "delivered", "the key's final status (D1)")
      assert.strictEqual(withEvent.copies[cell.primary], 1, "copies of the primary (S4)")
      assert.strictEqual(withEvent.copies[otherThan(cell.primary)], 0, "copies of the fallback (S2)")
    }
  )
})

describe("fault matrix: Postmark", () => {
  it("differs from Amazon SES where a connection is refused, and nowhere else", () => {
    const made = (primary: Provider) =>
      rows
        .filter(({ cell }) => cell.primary === primary)
        .map(({ cell, postlane, withEvent }) => ({
          fault: cell.outcome.fault,
          accepted: cell.accepted,
          status: postlane.result.status,
          copies: copiesOf(postlane),
          withEvent: withEvent && copiesOf(withEvent)
        }))
    const [ses, postmark] = [made("provider_b"), made("postmark")]
    const differing = postmark.filter((row, at) => JSON.stringify(row) !== JSON.stringify(ses[at]))
    assert.deepStrictEqual(
      differing.map(({ fault }) => fault),
      ["refused"]
    )
  })
})

describe("fault matrix: the page", () => {
  it("in docs/ is current, the peers' columns included", async () => {
    const page = await readFile(new URL("../../docs/reference/fault-matrix.md", import.meta.url), "utf8")
    assert.strictEqual(page, faultMatrixPage(rows))
  })
})
