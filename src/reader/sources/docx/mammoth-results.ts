import { Result } from "mammoth/lib/results.js"

/**
 * Switches mammoth's warnings off. They are not used, and mammoth compares each with all before: twenty thousand
 * undefined styles took minutes.
 */
export const quieten = (): void => {
  Object.assign(Result, {
    combine: (results: ReadonlyArray<Result>) =>
      new Result(results.map(({ value }) => value).flat(Number.POSITIVE_INFINITY))
  })
  Object.assign(Result.prototype, {
    flatMap(this: Result, change: (value: unknown) => Result) {
      return new Result(change(this.value).value)
    },
    async flatMapThen(this: Result, change: (value: unknown) => Promise<Result>) {
      return new Result((await change(this.value)).value)
    }
  })
}
