/** The part of `email-addresses` 5 that Postlane calls; the package's own declarations are written for an older TypeScript. */
interface ParsedMailbox {
  readonly type: "mailbox"
  readonly name: string | null
  readonly local: string
  readonly domain: string
}
interface ParsedGroup {
  readonly type: "group"
}
declare function parse(options: {
  readonly input: string
  readonly rfc6532?: boolean
}): { readonly addresses: ReadonlyArray<ParsedMailbox | ParsedGroup> } | null
export default parse
