import { Schema } from "effect"

/** What kind of mail a send is; it decides which suppressions apply (document 1, "Categories and source"). */
export const Category = Schema.Literals(["auth", "transactional", "notification", "alert", "marketing"])
export type Category = typeof Category.Type

/** Category of a row that only delivery events wrote: mail that was sent outside the library. */
export const UNKNOWN_CATEGORY = "unknown"
