/** Appends items one by one: passed as arguments of one call, many items overflow the stack. */
export const append = <A>(to: Array<A>, items: Iterable<A>): void => {
  for (const item of items) to.push(item)
}

/** The least of some numbers; Infinity for none. */
export const least = (numbers: Iterable<number>): number => {
  let found = Infinity
  for (const number of numbers) if (number < found) found = number
  return found
}

/** The greatest of some numbers; -Infinity for none. */
export const greatest = (numbers: Iterable<number>): number => {
  let found = -Infinity
  for (const number of numbers) if (number > found) found = number
  return found
}

/** Order of entries by name, in code units: a locale must not change it. */
export const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0
