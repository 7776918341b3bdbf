import { Context } from "effect"

/** Tells the language of running text. */
export class LanguageDetector extends Context.Service<
  LanguageDetector,
  {
    /** Its language tag (BCP 47); undefined where the text is too short or too mixed to tell. */
    readonly detect: (text: string) => string | undefined
  }
>()("postlane/ports/LanguageDetector") {}
