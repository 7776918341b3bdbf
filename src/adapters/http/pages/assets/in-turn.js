/**
 * What comes after the dialog before. A closed one tells of it a moment later: until then it would answer the next one.
 * @type {Promise<unknown>}
 */
let before = Promise.resolve()

/**
 * Opens a dialog once the one before has told that it is closed.
 * @template A
 * @param {() => Promise<A>} open
 * @returns {Promise<A>}
 */
export const inTurn = (open) => {
  const answer = before.then(open)
  // Whoever asked hears of a failure; the next one is not held up by it.
  before = answer.catch(() => undefined)
  return answer
}
