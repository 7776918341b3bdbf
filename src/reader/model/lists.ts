/** Appends items one by one: passed as arguments of one call, many items overflow the stack. */
export const append = <A>(to: Array<A>, items: Iterable<A>): void => {
  for (const item of items) to.push(item)
}

/** The index of the first item that `isBefore` is false for, by halves: the list begins with all those that it is true for. */
export const firstNotBefore = <A>(items: ReadonlyArray<A>, isBefore: (item: A) => boolean): number => {
  let [from, to] = [0, items.length]
  while (from < to) {
    const at = (from + to) >> 1
    if (isBefore(items[at]!)) from = at + 1
    else to = at
  }
  return from
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

/** The middle one of some numbers, the larger of two; undefined for none. */
export const median = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Adds an item to those of its key. */
export const addTo = <Key, A>(groups: Map<Key, Array<A>>, key: Key, item: A): void => {
  const same = groups.get(key)
  if (same === undefined) groups.set(key, [item])
  else same.push(item)
}

/** Counts a key once more, or `by` times. */
export const countUp = <Key>(counts: Map<Key, number>, key: Key, by = 1): void => {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
