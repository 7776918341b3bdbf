import { expect, it } from "vitest"

// The browser's modules are checked by themselves.
const STATE = new URL("../../../../src/adapters/http/pages/assets/dashboard/state.js", import.meta.url).href
const {
  madeText,
  stateOf
}: {
  madeText: (made: object) => string
  stateOf: (
    file: object,
    live: object | undefined,
    still?: boolean,
    waits?: object
  ) => { readonly more: string | undefined }
} = await import(STATE)

const file = {
  id: "f",
  name: "a.pdf",
  sizeBytes: 1,
  pages: 30,
  status: "completed",
  phase: null,
  batchWaiting: false,
  jobId: null,
  progress: { done: 30, total: 30 },
  error: null,
  hasResult: true,
  price: 30,
  createdAt: "2026-01-01T00:00:00.000Z",
  unreadablePages: [],
  noModelPages: [],
  made: null,
  leftOut: null,
  hasText: true
}

it("R2: a row says which pages could not be read, and that there is no text", () => {
  expect(stateOf(file, undefined).more).toBeUndefined()
  expect(stateOf({ ...file, hasText: null }, undefined).more).toBeUndefined()
  expect(stateOf({ ...file, unreadablePages: [7] }, undefined).more).toBe(
    "1 page could not be read and cost nothing: 7."
  )
  const many = Array.from({ length: 25 }, (_, at) => at + 1)
  expect(stateOf({ ...file, unreadablePages: many, hasText: false }, undefined).more).toMatch(
    /^25 pages .*: 1, 2, .*, 20 and 5 more\. There is no word of text in the result\.$/
  )
  expect(stateOf({ ...file, noModelPages: [2, 9] }, undefined).more).toBe(
    "High fidelity was not available for 2 pages: 2, 9."
  )
})

it("DOC-16: a row says what of the PDF is not converted, before it is bought and after", () => {
  const leftOut = { portfolio: false, files: ["a.csv"], fileCount: 3, remarks: 0 }
  const files = "3 files in it are not converted: a.csv and 2 more."
  expect(stateOf({ ...file, leftOut }, undefined).more).toBe(files)
  const uploaded = { ...file, status: "uploaded" as const, hasResult: false }
  expect(stateOf({ ...uploaded, leftOut: { ...leftOut, portfolio: true, remarks: 1 } }, undefined).more).toBe(
    `A portfolio: only its cover sheet is converted. ${files} 1 remark in it is not converted.`
  )
  const nothing = { portfolio: false, files: [], fileCount: 0, remarks: 0 }
  expect(stateOf({ ...uploaded, leftOut: nothing }, undefined).more).toBeUndefined()
})

it("a result says in which way it was made, how its pages came about, and by which model", () => {
  expect(madeText({ at: "", options: {}, tiers: { layout: 3 }, models: [] })).toBe("in the standard way")
  expect(
    madeText({
      at: "",
      options: { highFidelity: true },
      tiers: { "hifi-single-pass": 11, layout: 1 },
      models: ["us.model-1"]
    })
  ).toBe("in high fidelity (us.model-1): 11 pages by the model, 1 page from the layout")
})

it("a conversion that stands still says what it may wait for, unless it is queued, paused or being put together", () => {
  const running = {
    ...file,
    status: "chunked_processing",
    phase: "Converting: 1/2 chunks",
    progress: { done: 20, total: 30 }
  }
  expect(stateOf(running, undefined).more).toBeUndefined()
  expect(stateOf(running, undefined, true).more).toMatch(/^No page was finished for a while/)
  const live = { fileId: "f", jobId: "j", status: "processing", phase: null, done: 20, total: 30 }
  expect(stateOf(running, live, true).more).toMatch(/^No page was finished for a while/)
  for (const [status, done] of [
    ["pending", 0],
    ["assembling", 30],
    ["paused_budget", 20],
    ["waiting_batch", 0]
  ] as const)
    expect(stateOf(running, { ...live, status, done }, true).more ?? "").not.toMatch(/^No page/)
})

it.each([
  ["page", /^No page was finished for a while\. Its pages are being worked on/],
  ["turn", /3 other conversions are waiting or under way\.$/],
  ["worker", /it has waited for 40 minutes/],
  ["takeover", /last heard of 40 minutes ago/],
  ["retry", /tried again in 40 minutes\.$/],
  ["budget", /budget for models is spent/]
])("of one that stands still the cause is said: %s", (cause, text) => {
  const running = {
    ...file,
    status: "chunked_processing",
    phase: "Converting: 1/2 chunks",
    progress: { done: 20, total: 30 }
  }
  const waits = { cause, seconds: 2400, others: 3 }
  expect(stateOf(running, undefined, true, waits).more).toMatch(text)
  const queued = stateOf(
    { ...running, phase: "Queued: 0/2 chunks", progress: { done: 0, total: 30 } },
    undefined,
    true,
    waits
  )
  expect(queued.more).not.toMatch(/^No page/)
  expect(queued.more).not.toBeUndefined()
})

it("what waits for the batch says for how long", () => {
  const parked = {
    ...file,
    status: "chunked_processing",
    phase: null,
    batchWaiting: true,
    progress: { done: 0, total: 3 }
  }
  const more = (seconds: number) =>
    stateOf(parked, undefined, true, { cause: "batch", seconds, others: 0 }).more
  expect(more(7200)).toMatch(/^It has waited for the batch for 2 hours\. It is converted together/)
  expect(more(1)).toMatch(/for 1 second\./)
  expect(
    stateOf(parked, undefined, true, { cause: "batch", seconds: 7200, others: 0, within: 79_200 }).more
  ).toMatch(/^It has waited for the batch for 2 hours, and goes on without it within 22 hours\. /)
})
