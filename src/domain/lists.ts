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
