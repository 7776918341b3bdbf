import { Result } from "mammoth/lib/results.js"

/**
 * mammoth compares each of its warnings with all before, at each element: twenty thousand styles that nobody defined took minutes.
 * Nobody reads them here, so there are none.
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
