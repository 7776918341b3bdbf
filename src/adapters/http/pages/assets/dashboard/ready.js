import { pages } from "./state.js"

/** @import { PageRange } from "#api" */

/** How many pages are ready. @param {ReadonlyArray<PageRange>} ranges */
const readyCount = (ranges) => ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)

/** @param {ReadonlyArray<PageRange>} ranges @param {number} total */
export const readyText = (ranges, total) => {
  const count = readyCount(ranges)
  return `${count.toLocaleString("en-GB")} of ${pages(Math.max(total, count))} can be read so far.`
}

/** @param {ReadonlyArray<PageRange>} ranges @param {number} page */
export const isReady = (ranges, page) => ranges.some(({ first, last }) => first <= page && page <= last)

/** The next page that is ready, past those that are not. @param {ReadonlyArray<PageRange>} ranges @param {number} page @returns {number | undefined} */
export const readyAfter = (ranges, page) => {
  const range = ranges.find(({ last }) => last > page)
  return range && Math.max(range.first, page + 1)
}

/** @param {ReadonlyArray<PageRange>} ranges @param {number} page @returns {number | undefined} */
export const readyBefore = (ranges, page) => {
  const range = ranges.findLast(({ first }) => first < page)
  return range && Math.min(range.last, page - 1)
}

/** Says the first of many texts at once, and then the newest one every so many milliseconds. @param {(text: string) => void} say @param {number} every */
export const sparing = (say, every) => {
  /** @type {string | undefined} */
  let newest
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting
  const rest = () => {
    resting = setTimeout(() => {
      resting = undefined
      if (newest === undefined) return
      say(newest)
      newest = undefined
      rest()
    }, every)
  }
  return {
    /** @param {string} text */
    say: (text) => {
      if (resting !== undefined) {
        newest = text
        return
      }
      say(text)
      rest()
    },
    /** What was not said yet is out of date. */
    drop: () => {
      newest = undefined
    }
  }
}
