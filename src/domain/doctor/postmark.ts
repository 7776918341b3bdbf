import { type Verdict, verdictsOf } from "./verdict.ts"

/** A message stream that mail goes to, the one of the settings first; `found` is undefined where the server has none of this name. */
export interface PostmarkStream {
  readonly id: string
  readonly found: { readonly type: string; readonly archived: boolean } | undefined
}

/** A webhook of the server. */
export interface PostmarkWebhook {
  readonly url: string
  readonly stream: string
  /** The user name that it gives. */
  readonly user: string | undefined
  /** The events that it does not report, of those that are needed. */
  readonly lacks: ReadonlyArray<string>
}

/** What Postmark says of the server that the token is of. */
export type PostmarkFacts =
  | {
      readonly _tag: "Server"
      readonly name: string
      /** False: a sandbox, which delivers nothing. */
      readonly delivers: boolean
      readonly streams: ReadonlyArray<PostmarkStream>
      readonly webhooks: ReadonlyArray<PostmarkWebhook>
    }
  | { readonly _tag: "Refused"; readonly why: string }
  | { readonly _tag: "Unknown"; readonly why: string }

/** Where the webhook of an installation leads, and what it gives. */
interface ExpectedWebhook {
  readonly url: string
  readonly user: string
}

/** The webhook of the installation at this address. */
export const postmarkWebhookOf = (baseUrl: string): string => `${baseUrl}/functions/v1/postmark-webhook`

const { fail, ok, warn } = verdictsOf("postmark")

const streamVerdict = ({ found, id }: PostmarkStream, index: number): Verdict => {
  if (found !== undefined && !found.archived) return ok(`the message stream ${id} is there`)
  const problem = {
    what: `the message stream ${id} is ${found === undefined ? "not there" : "archived"}`,
    why: index === 0 ? "every mail is refused" : "mail of the category marketing is refused",
    do:
      index === 0
        ? "set POSTMARK_MESSAGE_STREAM to a stream of this server"
        : `make a broadcast stream with the ID ${id}, if you send marketing mail`
  }
  return index === 0 ? fail(problem) : warn(problem)
}

/** The address may hold the credentials, as `https://user:password@host/`. */
const withoutLogin = (url: string) => {
  const parsed = URL.parse(url)
  if (parsed === null) return { address: url, user: undefined }
  const user = parsed.username === "" ? undefined : decodeURIComponent(parsed.username)
  parsed.username = ""
  parsed.password = ""
  return { address: parsed.href, user }
}

const webhookVerdict = (
  webhooks: ReadonlyArray<PostmarkWebhook>,
  stream: string,
  expected: ExpectedWebhook
): Verdict => {
  const ours = webhooks.find((one) => one.stream === stream && withoutLogin(one.url).address === expected.url)
  const why = "bounces and complaints are neither logged in time nor suppressed"
  if (ours === undefined) {
    return warn({
      what: `the message stream ${stream} has no webhook that leads here`,
      why,
      do: `add one to ${expected.url}, with POSTMARK_WEBHOOK_USER and POSTMARK_WEBHOOK_PASSWORD as basic credentials`
    })
  }
  const user = ours.user ?? withoutLogin(ours.url).user
  if (user !== expected.user) {
    return fail({
      what: `the webhook of ${stream} gives ${user === undefined ? "no user name" : "another user name"}`,
      why: `it is refused, so that ${why}`,
      do: "give it POSTMARK_WEBHOOK_USER and POSTMARK_WEBHOOK_PASSWORD as basic credentials"
    })
  }
  return ours.lacks.length === 0
    ? ok(`the message stream ${stream} reports its events here`)
    : warn({
        what: `the webhook of ${stream} does not report ${ours.lacks.join(", ")}`,
        why: "what it does not report is not seen",
        do: "switch these events on in the webhook"
      })
}

/** The verdicts on `postmark`; without `expected` none on its webhooks, which no send needs. */
export const postmarkVerdicts = (
  facts: PostmarkFacts,
  expected?: ExpectedWebhook
): ReadonlyArray<Verdict> => {
  switch (facts._tag) {
    case "Server":
      return [
        facts.delivers
          ? ok("the server token is valid")
          : fail({
              what: `the server ${facts.name} is a sandbox`,
              why: "it takes every mail and delivers none",
              do: "set POSTMARK_SERVER_TOKEN to the token of a live server"
            }),
        ...facts.streams.map(streamVerdict),
        ...facts.streams.flatMap(({ found, id }, index) =>
          expected !== undefined && (index === 0 || found !== undefined)
            ? [webhookVerdict(facts.webhooks, id, expected)]
            : []
        )
      ]
    case "Refused":
      return [
        fail({
          what: "the server token is refused",
          why: facts.why,
          do: "copy it from the API tokens of the server and set POSTMARK_SERVER_TOKEN to it"
        })
      ]
    case "Unknown":
      return [
        fail({
          what: "the API does not answer as it should",
          why: facts.why,
          do: "see that this machine reaches it (POSTMARK_BASE_URL, firewall, proxy) and look at status.postmarkapp.com"
        })
      ]
  }
}
