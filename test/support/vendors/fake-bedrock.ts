import { FakeHttp, type FakeOptions, type Reply } from "./fake-http.ts"

/** A Converse call as it came over the wire; bytes are base64 there. */
export interface WireCall {
  readonly modelId: string
  readonly body: {
    readonly system?: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly messages: ReadonlyArray<{
      readonly role: string
      readonly content: ReadonlyArray<{
        readonly text?: string
        readonly document?: {
          readonly name: string
          readonly format: string
          readonly source: { readonly bytes: string }
        }
        readonly image?: { readonly format: string; readonly source: { readonly bytes: string } }
      }>
    }>
    readonly inferenceConfig?: { readonly maxTokens?: number; readonly temperature?: number }
  }
}

/** What the fake model says to a call: a text, or the parts of a Converse answer. */
export type Says = (call: WireCall) => string | Readonly<Record<string, unknown>>

const PATH = /^\/model\/([^/]+)\/converse$/

/** The vendor's error shape: the name in a header, the message in the body. */
export const bedrockError = (status: number, name: string, message: string): Reply => ({
  status,
  headers: { "x-amzn-errortype": name },
  body: { message }
})

const ERRORS: Readonly<Record<number, readonly [string, string]>> = {
  401: ["AccessDeniedException", "no"],
  403: ["AccessDeniedException", "You don't have access to the model"],
  422: ["ValidationException", "not valid"],
  429: ["ThrottlingException", "Too many requests"],
  500: ["InternalServerException", "internal"],
  503: ["ServiceUnavailableException", "busy"],
  504: ["ModelTimeoutException", "slow"]
}

/** Bedrock Runtime's Converse on loopback: required fields are checked, the answer is `says`'. */
export const fakeBedrock = (says: Says, options: FakeOptions = {}): FakeHttp =>
  new FakeHttp(
    {
      scripted: ({ method, path }) => method === "POST" && PATH.test(path),
      error: (status) => bedrockError(status, ...(ERRORS[status] ?? ["InternalServerException", "internal"])),
      handle: (request, accept) => {
        const match = PATH.exec(request.path)
        if (match === null) return undefined
        const body: WireCall["body"] = JSON.parse(request.body)
        const call: WireCall = { modelId: decodeURIComponent(match[1]!), body }
        const documents = body.messages.flatMap(({ content }) =>
          content.flatMap(({ document }) => document ?? [])
        )
        if (documents.some(({ name }) => !/^[\w ()[\]-]{1,200}$/.test(name) || name.includes("_"))) {
          return bedrockError(400, "ValidationException", "The document name is not valid")
        }
        accept(call.modelId, call)
        const said = says(call)
        if (typeof said !== "string") return { status: 200, body: said }
        return {
          status: 200,
          body: {
            output: { message: { role: "assistant", content: [{ text: said }] } },
            stopReason: "end_turn",
            usage: { inputTokens: 100, outputTokens: said.length, totalTokens: 100 + said.length },
            metrics: { latencyMs: 1 }
          }
        }
      }
    },
    options
  )
