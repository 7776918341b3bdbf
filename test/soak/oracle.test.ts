import { assert, describe, it } from "@effect/vitest"

import type { Copy, Evidence, Job, Mailed, SendRow } from "./evidence.ts"
import { hashOf } from "./evidence.ts"
import { ANSWERING, type HookDelivery, RECEIVERS } from "./hooks.ts"
import { makeJournal, type MailStory } from "./journal.ts"
import { judge, type Violation } from "./oracle.ts"

const KEY = "soak-mail-1"

const answer = (body: MailStory["answers"][number]["body"], at = 2_000) => ({
  status: body.ok === true ? 200 : 502,
  askedAt: 1_000,
  at,
  body
})
const sent = answer({ ok: true, status: "sent", provider: "provider_a", providerMessageId: "a1" })

const copy = (provider: Copy["provider"], messageId: string, at = 1_500): Copy => ({
  provider,
  messageId,
  keyHash: hashOf(KEY),
  token: KEY,
  at
})
const row: SendRow = {
  id: "r1",
  keyHash: hashOf(KEY),
  token: KEY,
  status: "delivered",
  outcome: "sent",
  messageId: "a1"
}
const job: Job = {
  id: "j1",
  status: "completed",
  pages: 2,
  found: [1, 1],
  charges: 1,
  credits: 2,
  hold: "settled",
  bills: 1,
  batchJobs: 1,
  isStopped: false,
  answered: 2,
  billed: 200
}
const mailed: Mailed = { token: "soak-document-1", outcome: "success", jobs: 1, charges: 1, reply: "sent" }
const balance = { email: "owner0@soak.test", began: 10, left: 8, charged: 2, held: 0 }

/** A soak of one mail, one conversion and one mail to convert that went well; with these differences. */
const evidence = ({
  answers = [sent],
  ...more
}: Partial<Evidence> & { readonly answers?: MailStory["answers"] } = {}): Evidence => ({
  journal: {
    ...makeJournal(),
    mails: [{ token: KEY, key: KEY, answers }],
    events: [{ messageId: "a1", what: "delivered", to: "a@x.test" }],
    uploads: ["f1"],
    conversions: [{ jobId: "j1", pages: 2 }],
    mailed: [{ token: "soak-document-1", sender: "owner0@soak.test" }]
  },
  faults: { counts: {}, hurts: [], rolls: [] },
  copies: [copy("provider_a", "a1")],
  rows: [row],
  suppressed: new Set(),
  alerted: new Set(),
  deadLetters: 0,
  files: new Set(["f1"]),
  jobs: [job],
  mailed: [mailed],
  balances: [balance],
  deliveries: RECEIVERS.map((receiver): HookDelivery => ({
    receiver,
    messageId: "e1",
    state: "delivered",
    sendId: "r1"
  })),
  received: new Map(ANSWERING.map((receiver) => [receiver, new Set(["e1"])])),
  stuck: [],
  lines: [],
  ...more
})

/** What was found, as promises with the id of the invariant. */
const found = (given: Evidence): ReadonlyArray<string> =>
  judge(given).violations.map(({ promise, what }: Violation) => `${promise}: ${what.slice(0, 2)}`)

describe("the soak's oracle", () => {
  it("finds nothing where all went well", () => assert.deepStrictEqual(found(evidence()), []))

  const both = [copy("provider_a", "a1"), copy("provider_b", "b1")]
  const lost: ReadonlyArray<readonly [name: string, given: Evidence, promise: string]> = [
    ["a mail that nobody took", evidence({ copies: [] }), "lost: D1"],
    ["an answer that names another mail", evidence({ copies: [copy("provider_a", "a2")] }), "lost: S5"],
    ["an event that does not show", evidence({ rows: [{ ...row, status: "sent" }] }), "lost: E1"],
    ["a conversion that is gone", evidence({ jobs: [] }), "lost: C4"],
    ["an upload that is gone", evidence({ files: new Set() }), "lost: R1"],
    ["a page that is not in the result", evidence({ jobs: [{ ...job, found: [1, 0] }] }), "lost: C1"],
    ["a mail to convert that is gone", evidence({ mailed: [] }), "lost: I2"],
    [
      "a second copy of one provider",
      evidence({ copies: [both[0]!, copy("provider_a", "a2")] }),
      "doubled: S1"
    ],
    ["a copy of each provider", evidence({ copies: both }), "doubled: S2"],
    ["a page twice", evidence({ jobs: [{ ...job, found: [1, 2] }] }), "doubled: C1"],
    ["two batch jobs", evidence({ jobs: [{ ...job, batchJobs: 2 }] }), "doubled: B2"],
    ["a mail converted twice", evidence({ mailed: [mailed, mailed] }), "doubled: I1"],
    ["an event that was not received", evidence({ received: new Map() }), "lost: O1"],
    ["an end of a mail without an event", evidence({ deliveries: [] }), "lost: O1"],
    [
      "a mail of a transaction that was rolled back",
      evidence({
        journal: {
          ...evidence().journal,
          mails: [{ token: KEY, key: KEY, answers: [], never: "its transaction was rolled back" }]
        }
      }),
      "untrue: Q1"
    ],
    ["a mail left deferred", evidence({ rows: [{ ...row, status: "deferred" }] }), "stuck: D1"],
    ["what is under way", evidence({ stuck: ["1 holds"] }), "stuck: D1"],
    ["a job charged twice", evidence({ jobs: [{ ...job, charges: 2 }] }), "charged twice: F2"],
    ["a batch job billed twice", evidence({ jobs: [{ ...job, bills: 2 }] }), "charged twice: B2"],
    ["money that does not add up", evidence({ balances: [{ ...balance, left: 6 }] }), "charged twice: F1"],
    ["a hold that was kept", evidence({ jobs: [{ ...job, hold: "held" }] }), "holds not released once: F1"],
    [
      "a charge for what was cancelled",
      evidence({ jobs: [{ ...job, status: "cancelled", hold: "released" }] }),
      "untrue: F2"
    ],
    [
      "a fault that passes, answered as a failure of our own",
      evidence({ journal: { ...evidence().journal, internal: ["/api/v1/files: INTERNAL"] } }),
      "untrue: HT"
    ]
  ]
  it.each(lost)("finds %s", (_, given, promise) => assert.include(found(given), promise))

  it("counts a second copy of a provider without deduplication apart, unless it left after the answer", () => {
    const byB = answer({ ok: true, status: "sent", provider: "provider_b", providerMessageId: "b1" })
    const early = [copy("provider_b", "b1", 1_200), copy("provider_b", "b2", 1_900)]
    assert.notInclude(found(evidence({ answers: [byB], copies: early })).join(), "doubled")
    const late = [copy("provider_b", "b1", 1_200), copy("provider_b", "b2", 3_000)]
    assert.include(found(evidence({ answers: [byB], copies: late })), "doubled: S4")
  })

  it("takes a mail whose reader was killed four times for set aside, and no other", () => {
    const unread: Mailed = { token: undefined, outcome: "error", jobs: 0, charges: 0, reply: null }
    assert.deepStrictEqual(found(evidence({ mailed: [unread] })), [])
    assert.include(found(evidence({ mailed: [{ ...unread, outcome: "duplicate" }] })), "lost: I2")
  })

  it("lets go of what needs the database while a process did without it, and counts it", () => {
    const lines = [
      { slot: "api", number: 1, at: 1_500, message: "mail store: begin failed, the send goes on" }
    ]
    const verdict = judge(evidence({ copies: both, lines }))
    assert.deepStrictEqual(verdict.violations, [])
    assert.strictEqual(verdict.counts["copies from both while the database was away (S6)"], 1)
  })
})
