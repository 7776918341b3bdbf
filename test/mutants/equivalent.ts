/** How the reason of a fault begins that is in what a text says to people: a test of it would repeat the text. */
export const WORDS = "words: "

/** Faults that change nothing, or words only, by the file or function and by their name in the report, with the reason. */
export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
