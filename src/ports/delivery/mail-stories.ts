import { Context, type Effect } from "effect"

import type { MailStory } from "../../domain/delivery/mail-story.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one story: a key that is used every day has no end. */
export const MAX_STORY_ROWS = 50

/** Reads the story of one mail. */
export class MailStories extends Context.Service<
  MailStories,
  {
    /** The story that the row of this id is part of; `undefined` where there is no such row. */
    readonly of: (sendId: string) => Effect.Effect<MailStory | undefined, StoreUnavailable>
  }
>()("postlane/ports/MailStories") {}
