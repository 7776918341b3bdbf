import { Context, type Effect } from "effect"

/** What came of trying a link. */
export type LinkTry =
  /** It answers; `leadsTo`: where redirects ended. */
  | { readonly outcome: "answered"; readonly status: number; readonly leadsTo: string | undefined }
  /** It was asked, and did not answer. */
  | { readonly outcome: "silent"; readonly why: string }
  /** It was not asked: its address is none that may be called, or it is not of the web. */
  | { readonly outcome: "skipped"; readonly why: string }

/** Tries links of mails: a stranger may have written them. */
export class LinkTrier extends Context.Service<
  LinkTrier,
  {
    /** One answer for each address, in their order. `own`: the origins of this server, which alone may be of this machine. */
    readonly tryAll: (
      addresses: ReadonlyArray<string>,
      own: ReadonlySet<string>
    ) => Effect.Effect<ReadonlyArray<LinkTry>>
  }
>()("postlane/ports/LinkTrier") {}
