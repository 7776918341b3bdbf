import { execFileSync } from "node:child_process"

import { expect, it } from "vitest"

const MODULE = new URL("../../../../src/runtime/process/node/small-heap.ts", import.meta.url).href

/**
 * In a process of its own, since flags hold for all of it: what its nursery takes after much garbage of which a part lives on. The least of
 * ten looks: during a collection it takes more, and one that has grown takes more at each look.
 */
const nurseryAfter = (first: string): number =>
  Number(
    execFileSync(process.execPath, [
      "--input-type=module",
      "--eval",
      `import { getHeapSpaceStatistics } from "node:v8"
       ${first}
       const kept = []
       const sizes = []
       for (let at = 0; at < 2e6; at++) {
         if (at % 4 === 0) kept.push({ at }); else ({ at: [at] })
         if (at >= 1e6 && at % 1e5 === 0)
           sizes.push(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size)
       }
       console.log(Math.min(...sizes))`
    ]).toString()
  )

/** A nursery has 32 MB where it may grow, and 4 where not; while it is collected it holds some more. */
const LARGE = 8 * 1024 * 1024

it("the nursery of a server does not grow, and collections cannot be asked for afterwards", () => {
  const small = `import { keepHeapSmall } from "${MODULE}"; keepHeapSmall(); if ("gc" in globalThis) throw new Error("gc")`
  expect(nurseryAfter(small)).toBeLessThanOrEqual(LARGE)
  // The check can fail.
  expect(nurseryAfter("")).toBeGreaterThan(LARGE)
})

it("more frequent collections leave the nursery as large as it was, and no way to ask for another", () => {
  const often = `import { collectOften } from "${MODULE}"; collectOften(40); if ("gc" in globalThis) throw new Error("gc")`
  expect(nurseryAfter(often)).toBeGreaterThan(LARGE)
})

/** The most that is in use while old objects are replaced by new ones, bytes. */
const mostInUse = (first: string): number =>
  Number(
    execFileSync(process.execPath, [
      // Collections keep pace with the program, however many cores it has to itself.
      "--single-threaded-gc",
      "--input-type=module",
      "--eval",
      `import { getHeapStatistics } from "node:v8"
       const piece = () => Array.from({ length: 100 }, (_, at) => ({ at }))
       const kept = Array.from({ length: 15_000 }, piece)
       ${first}
       let most = 0
       for (let at = 0; at < 200_000; at++) {
         kept[(at * 7919) % kept.length] = piece()
         if (at % 100 === 0) most = Math.max(most, getHeapStatistics().used_heap_size)
       }
       console.log(most)`
    ]).toString()
  )

it("old objects are collected when the heap has grown by the share that is given, not to a multiple", () => {
  const often = `const { collectOften } = await import("${MODULE}"); collectOften(40)`
  expect(mostInUse(often)).toBeLessThan(0.75 * mostInUse(""))
})
