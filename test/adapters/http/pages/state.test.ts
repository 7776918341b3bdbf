import { expect, it } from "vitest"

// The browser's modules are checked by themselves.
const STATE = new URL("../../../../src/adapters/http/pages/assets/dashboard/state.js", import.meta.url).href
const {
  stateOf
}: {
  stateOf: (file: object, live: object | undefined, still?: boolean) => { readonly more: string | undefined }
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
