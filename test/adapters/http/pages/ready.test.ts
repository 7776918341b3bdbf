import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"

type Ranges = ReadonlyArray<{ readonly first: number; readonly last: number }>

// The browser's modules are checked by themselves.
const READY = new URL("../../../../src/adapters/http/pages/assets/dashboard/ready.js", import.meta.url).href
const {
  isReady,
  readyAfter,
  readyBefore,
  readyText,
  sparing
}: {
  isReady: (ranges: Ranges, page: number) => boolean
  readyAfter: (ranges: Ranges, page: number) => number | undefined
  readyBefore: (ranges: Ranges, page: number) => number | undefined
  readyText: (ranges: Ranges, total: number) => string
  sparing: (
    say: (text: string) => void,
    every: number
  ) => { readonly say: (text: string) => void; readonly drop: () => void }
} = await import(READY)

describe("pages that are ready", () => {
  it("follow each other over those that are not", () => {
    const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 })), {
      maxLength: 5
    })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: 110 }), (steps, page) => {
        const ranges: Array<{ first: number; last: number }> = []
        for (const [gap, more] of steps) {
          const first = (ranges.at(-1)?.last ?? 0) + gap + 1
          ranges.push({ first, last: first + more })
        }
        const all = Array.from({ length: 110 }, (_, at) => at + 1).filter((one) => isReady(ranges, one))
        expect(readyAfter(ranges, page)).toBe(all.find((one) => one > page))
        expect(readyBefore(ranges, page)).toBe(all.findLast((one) => one < page))
        expect(readyText(ranges, 2_000)).toBe(`${all.length} of 2,000 pages can be read so far.`)
      })
    )
  })
})

describe("sparing announcements", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("say the first at once, then the newest once a while, and nothing that is out of date", () => {
    const said: Array<string> = []
    const { drop, say } = sparing((text) => said.push(text), 1_000)
    for (let page = 1; page <= 500; page += 1) {
      say(String(page))
      vi.advanceTimersByTime(10)
    }
    expect(said).toEqual(["1", "100", "200", "300", "400", "500"].slice(0, said.length))
    expect(said.length).toBeLessThanOrEqual(6)
    say("late")
    drop()
    vi.advanceTimersByTime(5_000)
    expect(said).not.toContain("late")
    say("again")
    expect(said.at(-1)).toBe("again")
  })
})
