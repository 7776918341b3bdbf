/** What mammoth's steps pass on: its declarations leave out that it has warnings beside the value. */
declare module "mammoth/lib/results.js" {
  export class Result {
    constructor(value: unknown)
    readonly value: unknown
  }
}
